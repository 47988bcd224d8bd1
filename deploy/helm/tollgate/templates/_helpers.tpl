{{/* The name of an object of a program: a dict of root and program. */}}
{{- define "tollgate.name" -}}
{{- printf "%s-%s" .root.Release.Name .program | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* What a program is selected by; it never changes. */}}
{{- define "tollgate.selector" -}}
app.kubernetes.io/name: tollgate
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .program }}
{{- end -}}

{{- define "tollgate.labels" -}}
{{ include "tollgate.selector" . }}
app.kubernetes.io/version: {{ .root.Values.image.tag | default .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "tollgate.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{/* The address of the database for a login. */}}
{{- define "tollgate.databaseUrl" -}}
{{- $database := .root.Values.database -}}
postgresql://{{ .login }}@{{ $database.host }}:{{ $database.port }}/{{ .database | default $database.name }}
{{- with $database.parameters }}?{{ . }}{{ end -}}
{{- end -}}

{{/* Variables and mounted secrets of a container: a dict of root, given (variables by the chart) and of (the program's values). */}}
{{- define "tollgate.env" -}}
{{- $variables := dict -}}
{{- range $source := list .given .root.Values.variables .of.variables }}
{{- range $name, $value := $source }}
{{- $_ := set $variables $name $value }}
{{- end }}
{{- end }}
{{- range $name, $value := $variables }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- range $name, $key := .of.secrets }}
- { name: {{ $name }}_FILE, value: /run/secrets/tollgate/{{ $name }} }
{{- end }}
{{- end -}}

{{/* Without items, Kubernetes would mount the whole Secret. */}}
{{- define "tollgate.secretVolume" -}}
name: secrets
{{- if .of.secrets }}
secret:
  secretName: {{ .root.Values.secret.name }}
  defaultMode: 0440
  items:
  {{- range $name, $key := .of.secrets }}
    - { key: {{ $key }}, path: {{ $name }} }
  {{- end }}
{{- else }}
emptyDir: {}
{{- end }}
{{- end -}}

{{/* As the image's own user, who can write nowhere but to mounted folders. */}}
{{- define "tollgate.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "tollgate.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* What the chart itself says to a program. */}}
{{- define "tollgate.given" -}}
{{- $values := .root.Values -}}
{{- $role := get (dict "gateway" "gateway" "billing" "billing" "control-plane" "billing" "video-worker" "worker") .program -}}
HOST: 0.0.0.0
HEALTH_PORT: "9464"
KAFKA_BROKERS: {{ $values.kafka.brokers | quote }}
DATABASE_URL: {{ include "tollgate.databaseUrl" (dict "root" .root "login" (printf "tollgate_%s" $role)) | quote }}
{{- if has .program (list "gateway" "video-worker") }}
STORAGE: {{ $values.storage.kind }}
{{- if eq $values.storage.kind "file" }}
STORAGE_DIR: /var/lib/tollgate/files
{{- end }}
{{- end }}
{{- if has .program (list "gateway" "control-plane") }}
PUBLIC_BASE_URL: {{ $values.publicBaseUrl | quote }}
{{- end }}
{{- if and $values.ingress.enabled (has .program (list "gateway" "control-plane")) }}
TRUST_PROXY: "true"
{{- end }}
{{- if eq .program "gateway" }}
PORT: "8787"
{{- end }}
{{- if eq .program "control-plane" }}
CONSOLE_PORT: "8788"
PUBLIC_CONSOLE_URL: {{ $values.publicConsoleUrl | quote }}
GATEWAY_URL: http://{{ include "tollgate.name" (dict "root" .root "program" "gateway") }}:8787
MAIL_DIR: /tmp/mail
{{- end }}
{{- end -}}
