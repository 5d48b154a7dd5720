# Completion of PROGRAM for fish.
function __PROGRAM_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in (PROGRAM __complete -- $words[2..-1] 2>/dev/null)
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
