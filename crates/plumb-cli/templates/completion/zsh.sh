#compdef PROGRAM
# Completion of PROGRAM for zsh.
_PROGRAM() {
    local line may_be_file
    local -a candidates descriptions
    while IFS= read -r line; do
        case "$line" in
            :files) may_be_file=1 ;;
            :none) ;;
            *)
                candidates+=("${line%%$'\t'*}")
                descriptions+=("${line%%$'\t'*}  ${line#*$'\t'}")
                ;;
        esac
    done < <(PROGRAM __complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)
    (( ${#candidates} )) && compadd -l -d descriptions -- "${candidates[@]}"
    [[ -n "$may_be_file" ]] && _files
    return 0
}
if [[ "$funcstack[1]" == "_PROGRAM" ]]; then
    _PROGRAM "$@"
else
    compdef _PROGRAM PROGRAM
fi
