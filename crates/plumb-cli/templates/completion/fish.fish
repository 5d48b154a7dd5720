# Completion of PROGRAM for fish.
function __PROGRAM_complete
    set -l words (commandline -opc)
    # The word as it will be without its quotes, the last of which is not there yet.
    set -l word (string replace --regex -- '^[\'"]' '' (commandline -ct | string replace --all --regex -- '\\\\(.)' '$1'))
    for line in (PROGRAM __complete -- $words[2..-1] "$word" 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path (commandline -ct)
            case ':none'
            case '*'
                echo $line
        end
    end
end
complete -c PROGRAM -f -a '(__PROGRAM_complete)'
