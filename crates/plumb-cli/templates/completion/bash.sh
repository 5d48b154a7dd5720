# Completion of PROGRAM for bash.
_PROGRAM_complete() {
    local line candidates=() may_be_file= quote=
    local word="${COMP_LINE:0:COMP_POINT}" words=()
    read -r -a words <<<"$word"
    [[ "$word" == *[[:space:]] ]] && words+=("")
    local last=$((${#words[@]} - 1))
    local current="${words[last]}"
    # Readline takes what stands between quotes as it is, and begins a new word at each colon and equals sign elsewhere.
    local cut=
    if [[ "$current" == [\'\"]* ]]; then
        quote=1
        words[last]="${current:1}"
    else
        cut="${current%"${COMP_WORDS[COMP_CWORD]}"}"
        [[ "${COMP_WORDS[COMP_CWORD]}" == [:=] ]] && cut="$current"
        words[last]="${current//\\/}"
    fi
    while IFS= read -r line; do
        case "$line" in
            :files) may_be_file=1 ;;
            :none) ;;
            *) candidates+=("${line%%$'\t'*}") ;;
        esac
    done < <(PROGRAM __complete -- "${words[@]:1}" 2>/dev/null)
    COMPREPLY=()
    for line in "${candidates[@]}"; do
        [[ -n "$quote" ]] || printf -v line %q "$line"
        COMPREPLY+=("${line#"$cut"}")
    done
    if [[ -n "$may_be_file" ]]; then
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
    fi
}
complete -o nosort -F _PROGRAM_complete PROGRAM
