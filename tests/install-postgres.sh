#!/bin/sh
# Installs Debian's PostgreSQL server where there is none: the tests start one of their own. Run by `make test`.
set -e
if command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then exit 0; fi
if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
    echo "The tests need a PostgreSQL server (initdb, pg_ctl): install one with your system's package manager." >&2
    exit 1
fi
mkdir -p /etc/postgresql-common
[ -e /etc/postgresql-common/createcluster.conf ] ||
    echo "create_main_cluster = false" > /etc/postgresql-common/createcluster.conf # no server beside the tests'
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -y --no-install-recommends postgresql >/dev/null
