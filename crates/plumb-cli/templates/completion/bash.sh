# Completion of PROGRAM for bash.
_PROGRAM_complete() {
    local line candidates=() may_be_file=
    local word="${COMP_LINE:0:COMP_POINT}" words=()
    read -r -a words <<<"$word"
    [[ "$word" == *[[:space:]] ]] && words+=("")
    local current="${words[${#words[@]}-1]}"
    while IFS= read -r line; do
        case "$line" in
            :files) may_be_file=1 ;;
            :none) ;;
            *) candidates+=("${line%%$'\t'*}") ;;
        esac
    done < <(PROGRAM __complete -- "${words[@]:1}" 2>/dev/null)
    # Readline begins a new word at each colon and equals sign.
    local cut="${current%"${COMP_WORDS[COMP_CWORD]}"}"
    [[ "${COMP_WORDS[COMP_CWORD]}" == [:=] ]] && cut="$current"
    COMPREPLY=()
    for line in "${candidates[@]}"; do
        COMPREPLY+=("${line#"$cut"}")
    done
    if [[ -n "$may_be_file" ]]; then
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
    fi
}
complete -o nosort -F _PROGRAM_complete PROGRAM
