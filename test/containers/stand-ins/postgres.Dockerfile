# Stands in for postgres:18-bookworm: the server from npm, and the part of the image's start-up that docker-compose.yml uses.
FROM tollgate-stand-in/bookworm
COPY postgres /usr/local/pgsql
COPY postgres-entry.sh /usr/local/bin/entry
COPY pg_isready.sh /usr/local/pgsql/bin/pg_isready
RUN groupadd --gid 999 postgres && useradd --uid 999 --gid postgres --create-home postgres \
 && mkdir -p /var/lib/postgresql && chown postgres:postgres /var/lib/postgresql \
 && chmod 755 /usr/local/bin/entry /usr/local/pgsql/bin/*
ENV PATH=/usr/local/pgsql/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin PGDATA=/var/lib/postgresql/18/docker
VOLUME /var/lib/postgresql
USER postgres
STOPSIGNAL SIGINT
ENTRYPOINT ["entry"]
CMD ["postgres"]
