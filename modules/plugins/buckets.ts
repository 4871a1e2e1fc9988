import type { PluginValues, StoragePluginId } from '../../src/core/plugins/index.ts'
import { trimTrailing } from '../../src/core/trim-characters.ts'
import type { S3Settings } from '../../src/storage/index.ts'
import type { StoredBucket } from './store.ts'

/** The endpoint and the region of each service; `region: null` is the client's default. */
const LOCATIONS: Record<
  StoragePluginId,
  (values: PluginValues) => { endpoint: string | null; region: string | null }
> = {
  'aws-s3': ({ endpoint, region }) => ({
    endpoint: endpoint === undefined ? null : trimTrailing(String(endpoint), '/'),
    region: String(region),
  }),
  minio: ({ useSSL, endPoint, port }) => ({
    endpoint: `${useSSL === true ? 'https' : 'http'}://${endPoint}:${port}`,
    region: null,
  }),
  spaces: ({ region }) => ({
    endpoint: `https://${region}.digitaloceanspaces.com`,
    region: String(region),
  }),
  backblaze: ({ region }) => ({
    endpoint: `https://s3.${region}.backblazeb2.com`,
    region: String(region),
  }),
  vultr: ({ hostname }) => ({ endpoint: `https://${hostname}`, region: null }),
  ovh: ({ region }) => ({ endpoint: `https://s3.${region}.io.cloud.ovh.net`, region: String(region) }),
  linode: ({ region }) => ({ endpoint: `https://${region}.linodeobjects.com`, region: String(region) }),
  upcloud: ({ endpoint }) => ({ endpoint: `https://${endpoint}`, region: null }),
  scaleway: ({ region }) => ({ endpoint: `https://s3.${region}.scw.cloud`, region: String(region) }),
  'cloudflare-r2': ({ hostname }) => ({ endpoint: `https://${hostname}`, region: 'auto' }),
}

/** The bucket of a configured storage service. */
export function bucketOf(id: StoragePluginId, values: PluginValues): StoredBucket {
  const { endpoint, region } = LOCATIONS[id](values)
  const settings: S3Settings = {
    s3Bucket: String(values.bucket),
    s3Region: region,
    s3Endpoint: endpoint,
    s3AccessKeyId: String(values.access_key),
    s3SecretAccessKey: String(values.access_secret),
  }
  const location = [endpoint ?? 'aws', settings.s3Bucket].join('\n')
  const hash = new Bun.CryptoHasher('sha256').update(location).digest('hex')
  return { id: `bucket_${hash.slice(0, 24)}`, settings }
}
