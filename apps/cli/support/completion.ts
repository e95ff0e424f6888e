/** Completion for bash. It runs nothing that was typed but this program, and needs no package. */
export const BASH_COMPLETION = `# bash completion for sluice
_sluice() {
  local line current=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  while IFS= read -r line; do
    line=\${line%%$'\\t'*}
    [[ $line != :* && $line == "$current"* ]] && COMPREPLY+=("$line")
  done < <(sluice complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
}
complete -o default -F _sluice sluice`;
