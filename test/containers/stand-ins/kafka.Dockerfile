# Stands in for apache/kafka, with Kafka's own jars, this machine's Java, and variables read as properties.
FROM tollgate-stand-in/bookworm
COPY java /opt/java
COPY kafka /opt/kafka/libs
COPY kafka-entry.sh /usr/local/bin/entry
RUN groupadd --gid 1000 appuser && useradd --uid 1000 --gid appuser --create-home appuser \
 && mkdir -p /var/lib/kafka/data /opt/kafka/config && chown -R appuser:appuser /var/lib/kafka /opt/kafka/config && chmod 755 /usr/local/bin/entry
VOLUME /var/lib/kafka/data
USER appuser
ENTRYPOINT ["entry"]
