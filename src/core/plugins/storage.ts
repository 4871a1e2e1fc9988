import { m } from '../messages.gen.ts'
import type { PluginDefinition, PluginInput } from './plugin.ts'

const bucket: PluginInput = {
  key: 'bucket',
  label: m.plugin_input_bucket,
  kind: 'text',
  format: 'name',
  isRequired: true,
}
const region = (placeholder: string): PluginInput => ({
  key: 'region',
  label: m.plugin_input_region,
  kind: 'text',
  format: 'region',
  isRequired: true,
  isDestination: true,
  placeholder,
})
const hostname = (key: string, placeholder: string): PluginInput => ({
  key,
  label: m.plugin_input_host,
  kind: 'text',
  format: 'host',
  isRequired: true,
  isDestination: true,
  placeholder,
})
const keys: readonly PluginInput[] = [
  { key: 'access_key', label: m.plugin_input_access_key, kind: 'text', isRequired: true },
  { key: 'access_secret', label: m.plugin_input_access_secret, kind: 'secret', isRequired: true },
]

const stores = <const I extends string>(id: I, title: string, inputs: readonly PluginInput[]) => ({
  id,
  title,
  category: 'storage' as const,
  description: () => m.plugin_description_storage({ service: title }),
  inputs,
})

/**
 * S3-compatible services. One of them takes the new files. Objects are private and served through this server, so there
 * is no access control list to choose.
 */
export const STORAGE_PLUGINS = [
  stores('aws-s3', 'Amazon S3', [
    bucket,
    region('eu-central-1'),
    {
      key: 'endpoint',
      label: m.plugin_input_endpoint,
      kind: 'text',
      format: 'address',
      isDestination: true,
      placeholder: 'https://s3.example.com',
      help: m.plugin_help_endpoint,
    },
    ...keys,
  ]),
  stores('minio', 'MinIO', [
    hostname('endPoint', 'minio.example.com'),
    {
      key: 'port',
      label: m.plugin_input_port,
      kind: 'number',
      format: 'port',
      isRequired: true,
      isDestination: true,
      placeholder: '9000',
    },
    bucket,
    ...keys,
    { key: 'useSSL', label: m.plugin_input_use_tls, kind: 'switch' },
  ]),
  stores('spaces', 'DigitalOcean Spaces', [bucket, region('fra1'), ...keys]),
  stores('backblaze', 'Backblaze B2', [bucket, region('eu-central-003'), ...keys]),
  stores('vultr', 'Vultr', [bucket, hostname('hostname', 'ewr1.vultrobjects.com'), ...keys]),
  stores('ovh', 'OVHcloud', [bucket, region('gra'), ...keys]),
  stores('linode', 'Linode', [bucket, region('eu-central-1'), ...keys]),
  stores('upcloud', 'UpCloud', [bucket, hostname('endpoint', 'example.upcloudobjects.com'), ...keys]),
  stores('scaleway', 'Scaleway', [bucket, region('fr-par'), ...keys]),
  stores('cloudflare-r2', 'Cloudflare R2', [
    bucket,
    hostname('hostname', 'account.r2.cloudflarestorage.com'),
    ...keys,
  ]),
] as const satisfies readonly PluginDefinition[]

export type StoragePluginId = (typeof STORAGE_PLUGINS)[number]['id']
