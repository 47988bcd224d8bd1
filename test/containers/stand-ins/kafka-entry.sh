#!/bin/bash
# Turns KAFKA_LOG_DIRS into log.dirs, as Apache Kafka's image does, then runs the broker.
set -euo pipefail
config=/opt/kafka/config/server.properties
env | grep '^KAFKA_' | grep -v '^KAFKA_HEAP_OPTS=' | while IFS='=' read -r name value; do
  key=$(printf '%s' "${name#KAFKA_}" | tr '[:upper:]_' '[:lower:].')
  printf '%s=%s\n' "$key" "$value"
done >"$config"
# It runs only for minutes, so compiling its code a second time would cost more than it saves.
java=(/opt/java/bin/java ${KAFKA_HEAP_OPTS:-} -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp '/opt/kafka/libs/*')
"${java[@]}" kafka.tools.StorageTool format --ignore-formatted --cluster-id "$CLUSTER_ID" --config "$config"
exec "${java[@]}" kafka.Kafka "$config"
