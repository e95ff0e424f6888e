{{/* Names and labels. Each takes the root context and a component: api, worker or migration. */}}
{{- define "sluice.name" -}}
{{- printf "%s-%s" (.root.Release.Name | trunc 50 | trimSuffix "-") .component }}
{{- end }}

{{- define "sluice.selector" -}}
app.kubernetes.io/name: sluice
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "sluice.labels" -}}
{{ include "sluice.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "sluice.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* What all pods have in common. */}}
{{- define "sluice.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: tmp
    emptyDir: {}
  {{- with .Values.volumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* What all containers have in common. */}}
{{- define "sluice.container" -}}
image: {{ include "sluice.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - name: tmp
    mountPath: /tmp
  {{- with .Values.volumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/*
Settings as environment variables, which take precedence over those of the Secret. Helm reads a number as a fraction:
`toString` would print 1048576 as 1.048576e+06. It reads on and off as true and false, which other switches are.
*/}}
{{- define "sluice.environment" -}}
{{- $switches := list "CORS_ORIGINS" "MANAGEMENT_ALLOWED_HOSTS" "PORTAL" "PORTAL_FRAME_ANCESTORS" "TRUST_PROXY" }}
{{- range $name, $value := . }}
{{- if and (kindIs "bool" $value) (has $name $switches) }}
{{- $value = ternary "on" "off" $value }}
{{- end }}
- name: {{ $name }}
  value: {{ kindIs "string" $value | ternary $value (toJson $value) | quote }}
{{- end }}
{{- end }}
