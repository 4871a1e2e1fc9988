import type { Config } from '../../src/config.ts'
import { type PluginCategory, type PluginValues, SECRET_MASK } from '../../src/core/plugins/index.ts'

/** What environment variables set. */
export interface Environment {
  /** The variable that decides. */
  variable: string
  /** The plugin whose inputs describe it. */
  pluginId: string
  /** With masked secrets. */
  values: PluginValues
}

interface Category {
  /** One of its plugins is in use at a time. */
  isExclusive: boolean
  /** What the environment sets, which takes precedence over plugins; null if it sets nothing. */
  environment(config: Config): Environment | null
}

export const CATEGORIES: Record<PluginCategory, Category> = {
  email: {
    isExclusive: true,
    environment: (config) =>
      config.smtpHost === null
        ? null
        : {
            variable: 'SMTP_HOST',
            pluginId: 'smtp',
            values: known({
              from: config.smtpFrom,
              host: config.smtpHost,
              port: config.smtpPort,
              username: config.smtpUsername,
              password: config.smtpPassword && SECRET_MASK,
              secure: config.smtpSecure,
              ignoreTLS: config.smtpIgnoreTls,
              rejectUnauthorized: true,
              public_url: config.publicUrl,
            }),
          },
  },
  storage: {
    isExclusive: true,
    environment: (config) =>
      config.s3Bucket === null
        ? null
        : {
            variable: 'S3_BUCKET',
            pluginId: 'aws-s3',
            values: known({
              bucket: config.s3Bucket,
              region: config.s3Region,
              endpoint: config.s3Endpoint,
              access_key: config.s3AccessKeyId && SECRET_MASK,
              access_secret: config.s3SecretAccessKey && SECRET_MASK,
            }),
          },
  },
  chat: { isExclusive: false, environment: () => null },
}

const known = (values: Record<string, string | number | boolean | null>): PluginValues =>
  Object.fromEntries(Object.entries(values).flatMap(([key, value]) => (value === null ? [] : [[key, value]])))
