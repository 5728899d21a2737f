{{- define "turnstile.name" -}}
{{- printf "%s-turnstile" .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "turnstile.selector" -}}
app.kubernetes.io/name: turnstile
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "turnstile.labels" -}}
{{ include "turnstile.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "turnstile.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "turnstile.sandbox" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}
