#!/bin/sh
# Installs Debian's PostgreSQL and PgBouncer where there are none: the tests start their own. Run by `make test`.
set -e
packages=""
command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || packages="postgresql"
command -v pgbouncer >/dev/null || [ -x /usr/sbin/pgbouncer ] || packages="$packages pgbouncer"
[ -n "$packages" ] || exit 0
if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
    echo "The tests need a PostgreSQL server (initdb, pg_ctl) and pgbouncer: install them with your system's package" \
        "manager." >&2
    exit 1
fi
mkdir -p /etc/postgresql-common
[ -e /etc/postgresql-common/createcluster.conf ] ||
    echo "create_main_cluster = false" > /etc/postgresql-common/createcluster.conf # no server beside the tests'
if [ ! -e /usr/sbin/policy-rc.d ]; then # nor a pooler
    printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d
    chmod +x /usr/sbin/policy-rc.d
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # one word per package
apt-get install -qq -y --no-install-recommends $packages >/dev/null
