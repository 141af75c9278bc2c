# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# bash completion for sstp-run(1)

_sstp_run()
{
	local cur=${COMP_WORDS[COMP_CWORD]} option='' i

	COMPREPLY=()
	# The program is the first word that is neither an option nor its value.
	for ((i = 1; i < COMP_CWORD; i++)); do
		option=''
		case ${COMP_WORDS[i]} in
		-[rcpltL]|--rate|--controller|--policy|--listen|--timeout|--log)
			option=${COMP_WORDS[i]}
			# bash also splits words at = and :, as in --rate=1M:2M
			[[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
			((i++))
			while [[ ${COMP_WORDS[i + 1]-} == : ]]; do
				((i += 2))
			done
			;;
		-*) ;;
		*) break ;;
		esac
	done
	if ((i < COMP_CWORD)); then
		if declare -F _command_offset > /dev/null; then
			_command_offset "$i"
		else
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		fi
		return
	fi
	# Complete the value of the last option, if this word is its value.
	((i == COMP_CWORD)) && option=''
	[[ $cur == = ]] && cur=''
	case $option in
	-c|--controller)
		mapfile -t COMPREPLY < <(compgen -W 'bbr bic cubic dctcp fast gtp highspeed hybrid newreno paptc rate scalable udt vegas westwood' -- "$cur") ;;
	-p|--policy)
		mapfile -t COMPREPLY < <(compgen -W 'rrda sobas static' -- "$cur") ;;
	-l|--listen)
		mapfile -t COMPREPLY < <(compgen -W 'both sstp tcp' -- "$cur") ;;
	-L|--log)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	-*) ;;
	*)
		if [[ $cur == -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W '--rate --controller --policy
				--listen --timeout --verbose --log --help' -- "$cur")
		else
			mapfile -t COMPREPLY < <(compgen -c -- "$cur")
		fi
		;;
	esac
} && complete -F _sstp_run sstp-run
