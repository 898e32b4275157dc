{{- define "gatehouse.labels" -}}
app.kubernetes.io/name: gatehouse
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "gatehouse.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- define "gatehouse.secret" -}}
{{ required "existingSecret must name a Secret with DATABASE_URL, CLICKHOUSE_URL and GATEHOUSE_MASTER_KEY" .Values.existingSecret }}
{{- end }}

{{- define "gatehouse.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "gatehouse.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/*
A value of `settings` as text. YAML reads a number as a double, which would be written as 1e+06, and `off` as false.
*/}}
{{- define "gatehouse.text" -}}
{{- if kindIs "bool" . -}}
{{ ternary "on" "off" . }}
{{- else if kindIs "float64" . -}}
{{ if eq . (floor .) }}{{ printf "%.0f" . }}{{ else }}{{ toString . }}{{ end }}
{{- else if or (kindIs "map" .) (kindIs "slice" .) -}}
{{ fail (printf "a setting is text, a number, on or off, and not %s" (toJson .)) }}
{{- else -}}
{{ toString . }}
{{- end -}}
{{- end }}

{{/* Where the pods of a role run, and as whom: what the role says, or else what is said for all. */}}
{{- define "gatehouse.scheduling" -}}
{{- $all := .all -}}
{{- $role := .role -}}
{{- with $role.nodeSelector | default $all.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $role.tolerations | default $all.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $role.affinity | default $all.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $role.priorityClassName | default $all.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $all.serviceAccount.name }}
serviceAccountName: {{ . }}
{{- end }}
{{- with $all.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "gatehouse.podAnnotations" -}}
{{- with mergeOverwrite dict (deepCopy .all.podAnnotations) (.role.podAnnotations | default dict) }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{/*
The logins that own the schemas belong to the migration. With a pooler a start needs the address of PostgreSQL itself, and where the
pods migrate they need the owner.
*/}}
{{- define "gatehouse.withoutOwners" -}}
{{- if .Values.migration.enabled }}
{{- if ne (toString .Values.settings.DATABASE_POOLER) "transaction" }}
- { name: DATABASE_OWNER_URL, value: "" }
{{- end }}
- { name: CLICKHOUSE_OWNER_URL, value: "" }
{{- end }}
{{- end }}
