/** A shell that `completion` writes a script for. */
export type Shell = keyof typeof completionScripts;

/**
 * Each script asks the hidden command `complete` with the words typed so far and offers what it prints, a line each with
 * what it is after a tab; where it prints nothing the shell offers files.
 */
export const completionScripts = {
  // bash takes words apart at = and :, so they are put together again, and what it already has is cut off.
  bash: `_object_versions() {
  local IFS=$'\\n' rest=$COMP_LINE words=() i word last
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if ((i == 0)) || [[ $rest == [[:blank:]]* ]]; then words+=("$word"); else words[\${#words[@]}-1]+=$word; fi
    rest=\${rest#"\${rest%%[![:blank:]]*}"}
    rest=\${rest#"$word"}
  done
  last=\${words[\${#words[@]}-1]}
  COMPREPLY=($(object-versions complete -- "\${words[@]:1}" 2>/dev/null))
  [[ $last != *[=:]* ]] || COMPREPLY=("\${COMPREPLY[@]#"\${last%"\${last##*[=:]}"}"}")
}
complete -o default -F _object_versions object-versions
`,
  zsh: `#compdef object-versions
_object_versions() {
  local -a found
  found=("\${(@f)$(object-versions complete --about -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=("\${(@)found:#}")
  if (( $#found )); then
    found=("\${(@)found//:/\\\\:}")
    found=("\${(@)found/$'\\t'/:}")
    _describe -V 'object-versions' found
  else
    compset -P '--*='
    _files
  fi
}
if [[ $funcstack[1] == _object_versions ]]; then _object_versions "$@"; else compdef _object_versions object-versions; fi
`,
  fish: `function __object_versions
  set -l typed (commandline -ct)
  set -l found (object-versions complete --about -- (commandline -opc)[2..-1] "$typed" 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    set -l option (string match -r -- '^--[^=]*=' "$typed"; or echo)
    printf '%s\\n' $option(__fish_complete_path (string replace -r -- '^--[^=]*=' '' "$typed"))
  end
end
complete -c object-versions -f -k -a '(__object_versions)'
`,
} as const;
