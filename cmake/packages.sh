# The packages of cmake/packages.txt on this machine: which are missing, and how they are installed. Sourced from the top
# folder, by cmake/setup.sh and by tests.
# shellcheck shell=bash

# Prints apt, dnf, pacman or zypper, whichever this machine has; nothing if it has none of them.
package_manager() {
  local manager
  for manager in apt-get dnf pacman zypper; do
    if command -v "$manager" >/dev/null; then
      printf '%s\n' "${manager%-get}"
      return
    fi
  done
}

# package_groups MANAGER PURPOSE: prints the packages of packages.txt for `run` or `test`, one per line, alternatives with
# slashes between them.
package_groups() {
  local -A columns=([apt]=3 [dnf]=4 [pacman]=5 [zypper]=6)
  awk -F '|' -v purpose="$2" -v column="${columns[$1]}" \
    '!/^#/ { first = $1; gsub(/ /, "", first); if (first == purpose) print $column }' cmake/packages.txt |
    tr -s ' ' '\n' | sed '/^$/d'
}

# absent_packages MANAGER PACKAGE...: prints those that are not installed.
absent_packages() {
  local manager=$1
  shift
  case $manager in
    apt) # names that dpkg does not know make it fail; those are simply not in its list
      comm -23 <(printf '%s\n' "$@" | sort -u) \
        <(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p' | sort -u)
      ;;
    pacman) pacman -T "$@" || true ;;
    *) LC_ALL=C rpm -q --whatprovides "$@" | sed -n 's/^no package provides //p' ;;
  esac
}

# missing_groups MANAGER PURPOSE...: prints the groups of which no package is installed.
missing_groups() {
  local manager=$1 purpose group package
  local -a groups packages
  local -A absent=()
  shift
  mapfile -t groups < <(for purpose in "$@"; do package_groups "$manager" "$purpose"; done)
  mapfile -t packages < <(printf '%s\n' "${groups[@]}" | tr / '\n' | sed '/^-$/d')
  while read -r package; do absent[$package]=1; done < <(absent_packages "$manager" "${packages[@]}")
  for group in "${groups[@]}"; do
    IFS=/ read -ra packages <<<"$group"
    for package in "${packages[@]}"; do [[ $package == - || -n ${absent[$package]-} ]] || continue 2; done
    printf '%s\n' "$group"
  done
}

# chosen_packages MANAGER GROUP...: prints the first package of each group that the distribution has; nothing for a group
# of which it has none and that ends with `-`. If apt has no lists yet, each first package counts as offered.
chosen_packages() {
  local manager=$1 group package offers_all=''
  shift
  [[ $manager == apt && -n $(apt-cache pkgnames 2>/dev/null | head -n 1) ]] || offers_all=yes
  for group in "$@"; do
    while IFS= read -r package; do
      [[ $package != - ]] || break
      if [[ $group != */* || -n $offers_all ]] || apt-cache show "$package" &>/dev/null; then
        printf '%s\n' "$package"
        break
      fi
    done < <(tr / '\n' <<<"$group")
  done
}

# install_command MANAGER PACKAGE...: prints the command that installs them.
install_command() {
  local manager=$1
  shift
  case $manager in
    apt) printf 'apt-get install --no-install-recommends --yes %s\n' "$*" ;;
    dnf) printf 'dnf install --assumeyes %s\n' "$*" ;;
    pacman) printf 'pacman -S --needed --noconfirm %s\n' "$*" ;;
    zypper) printf 'zypper --non-interactive install %s\n' "$*" ;;
  esac
}
