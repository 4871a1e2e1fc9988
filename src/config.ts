import { resolve } from 'node:path'
import {
  boolean,
  httpUrl,
  integer,
  oneOf,
  postgresUrl,
  requiredHttpUrl,
  secret,
  text,
  textOrNull,
  tilesUrl,
  type Variable,
  variable,
} from './config-values.ts'
import { trimTrailing } from './core/trim-characters.ts'
import { DEFAULT_CONNECTIONS, MAX_CONNECTIONS, MIN_CONNECTIONS } from './db/postgres/connection-budget.ts'
import { SMTP_VARIABLES, type SmtpSettings } from './mail/smtp-settings.ts'

/** Validated configuration from the environment. `VARIABLES` documents each variable. */
export interface Config extends SmtpSettings {
  port: number
  host: string
  dataDir: string
  databaseUrl: string | null
  databaseConnections: number
  maxOpenBases: number | null
  queryTimeoutSeconds: number
  airtableApiUrl: string
  airtableRequestsPerSecond: number
  moveWaitMs: number
  webhookRetryMs: number
  webhookMailsPerHour: number
  automationLogLevel: (typeof AUTOMATION_LOG_LEVELS)[number]
  jwtSecret: string | null
  connectionSecret: string | null
  sqliteSourcesDir: string | null
  publicUrl: string | null
  logLevel: LogLevel
  inviteOnlySignup: boolean
  importMaxBytes: number
  bodyMaxBytes: number
  anonymousBodyMaxBytes: number
  signUpsPerHour: number
  trustProxy: boolean
  allowLocalHttp: boolean
  historyDays: number
  trashDays: number
  auditDays: number
  attachmentMaxBytes: number
  attachmentMaxCount: number
  attachmentLinkSeconds: number
  formAnswersPerHour: number
  linkUploadsPerHour: number
  s3Bucket: string | null
  s3Region: string | null
  s3Endpoint: string | null
  s3AccessKeyId: string | null
  s3SecretAccessKey: string | null
  backupTarget: string | null
  backupPassphrase: string | null
  telegramApiUrl: string
  twilioApiUrl: string
  mapTilesUrl: string | null
  mapTilesAttribution: string | null
  metricsToken: string | null
  slowQueryMs: number
  indexSlowMs: number
  drainSeconds: number
  stopSeconds: number
}

const AUTOMATION_LOG_LEVELS = ['OFF', 'ERROR', 'ALL'] as const
const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Every environment variable of the product. A test compares the README's table with this list. */
export const VARIABLES = {
  port: variable({
    name: 'PORT',
    default: '8080',
    help: 'Port to listen on.',
    read: integer(0, 65_535),
  }),
  host: variable({
    name: 'HOST',
    default: '127.0.0.1',
    help: 'Address to listen on. `0.0.0.0` serves every network the machine is on.',
    read: text,
  }),
  dataDir: variable({
    name: 'DATA_DIR',
    default: './data',
    help: 'Folder for the embedded databases, uploads and generated secrets.',
    read: (value) => resolve(value),
  }),
  databaseUrl: variable({
    name: 'DATABASE_URL',
    aliases: ['NC_DB_URL'],
    default: '',
    help: 'PostgreSQL database for all data, `postgres://user:password@host:5432/name`: the metadata, and a schema per new base. Empty: SQLite files in `DATA_DIR`.',
    read: postgresUrl,
  }),
  databaseConnections: variable({
    name: 'DATABASE_CONNECTIONS',
    default: String(DEFAULT_CONNECTIONS),
    help: 'Maximum number of connections that this server keeps open to the PostgreSQL of `DATABASE_URL`, for all bases together. Idle ones are closed after a minute. Imports, copies of bases and structural changes of schemas each open one more while they run.',
    read: integer(MIN_CONNECTIONS, MAX_CONNECTIONS),
  }),
  maxOpenBases: variable({
    name: 'MAX_OPEN_BASES',
    default: '',
    help: 'Maximum number of base files open at once; each takes five file descriptors. The least recently used one is closed to make room and reopened when needed. Empty: as many as fit into half of the file descriptors of the process (`ulimit -n`).',
    read: (value, name) => (value === '' ? null : integer(1, 100_000)(value, name)),
  }),
  queryTimeoutSeconds: variable({
    name: 'QUERY_TIMEOUT_SECONDS',
    default: '60',
    help: 'Time limit for reads over whole tables (filter, sort, search, groups, summaries) per request. A read that exceeds it is cancelled and answered with 503. It is cancelled immediately when the client disconnects.',
    read: integer(1, 86_400),
  }),
  jwtSecret: variable({
    name: 'JWT_SECRET',
    aliases: ['NC_AUTH_JWT_SECRET'],
    default: '',
    help: 'Secret that signs access tokens, at least 16 characters. Empty: generated at first start and stored in `DATA_DIR`.',
    read: secret,
  }),
  connectionSecret: variable({
    name: 'CONNECTION_SECRET',
    aliases: ['NC_CONNECTION_ENCRYPT_KEY'],
    default: '',
    help: 'Secret that encrypts the credentials of connected databases, at least 16 characters; servers that share a `DATABASE_URL` need the same value. Empty: generated at first start and stored in `DATA_DIR`.',
    read: secret,
  }),
  sqliteSourcesDir: variable({
    name: 'SQLITE_SOURCES_DIR',
    default: '',
    help: 'Folder with the SQLite files that bases may connect to; files elsewhere are never read. Empty: the folder `sources` in `DATA_DIR`.',
    read: (value) => (value === '' ? null : resolve(value)),
  }),
  publicUrl: variable({
    name: 'PUBLIC_URL',
    aliases: ['NC_PUBLIC_URL'],
    default: '',
    help: 'Public URL of the server, used in links. Cookies are marked secure when it starts with https.',
    read: httpUrl,
  }),
  logLevel: variable({
    name: 'LOG_LEVEL',
    default: 'info',
    help: 'Minimum severity of logged lines: debug, info, warn, error or silent.',
    read: oneOf(LOG_LEVELS),
  }),
  inviteOnlySignup: variable({
    name: 'INVITE_ONLY_SIGNUP',
    aliases: ['NC_INVITE_ONLY_SIGNUP'],
    default: 'false',
    help: 'When true, only invited addresses may sign up after the first user.',
    read: boolean,
  }),
  importMaxBytes: variable({
    name: 'IMPORT_MAX_BYTES',
    default: String(2 * 1024 ** 3),
    help: 'Largest file that can be imported, in bytes.',
    read: integer(1, Number.MAX_SAFE_INTEGER),
  }),
  bodyMaxBytes: variable({
    name: 'BODY_MAX_BYTES',
    aliases: ['NC_REQUEST_BODY_SIZE'],
    default: String(50 * 1024 ** 2),
    help: 'Largest JSON request body, in bytes.',
    read: integer(1024, 1024 ** 3),
  }),
  anonymousBodyMaxBytes: variable({
    name: 'ANONYMOUS_BODY_MAX_BYTES',
    default: String(1024 ** 2),
    help: 'Largest JSON request body from callers who are not signed in, including visitors of public links, in bytes. Files uploaded to public forms do not count.',
    read: integer(1024, 1024 ** 3),
  }),
  signUpsPerHour: variable({
    name: 'SIGN_UPS_PER_HOUR',
    default: '20',
    help: 'Accounts that one IP address may create per hour. Invited people do not count. Addresses are kept for that hour only, as hashes.',
    read: integer(1, 1_000_000),
  }),
  trustProxy: variable({
    name: 'TRUST_PROXY',
    default: 'false',
    help: 'When true, rate limits and the audit log use the last address in `X-Forwarded-For`, as set by the reverse proxy in front of this server. Without a proxy leave it false: clients could forge the header.',
    read: boolean,
  }),
  allowLocalHttp: variable({
    name: 'ALLOW_LOCAL_HTTP',
    aliases: ['NC_ALLOW_LOCAL_HOOKS'],
    default: 'false',
    help: 'When true, files may be fetched from private and loopback addresses, and webhooks may call them.',
    read: boolean,
  }),
  airtableApiUrl: variable({
    name: 'AIRTABLE_API_URL',
    default: 'https://api.airtable.com',
    help: 'Address of Airtable’s Web API, for imports of bases. Another one is only needed behind a gateway.',
    read: (text) => trimTrailing(text.trim(), '/'),
  }),
  airtableRequestsPerSecond: variable({
    name: 'AIRTABLE_REQUESTS_PER_SECOND',
    default: '5',
    help: 'Requests per second to Airtable’s Web API, which allows five per base.',
    read: integer(1, 1000),
  }),
  moveWaitMs: variable({
    name: 'MOVE_WAIT_MS',
    default: '10000',
    help: 'How long a move of tables may keep those who write to their base waiting while it copies the latest changes, in milliseconds. Its end, which takes the tables over, comes on top and hardly grows with their records.',
    read: integer(10, 60_000),
  }),
  webhookRetryMs: variable({
    name: 'WEBHOOK_RETRY_MS',
    default: '5000',
    help: 'Longest delay before a failed call of a webhook is repeated, in milliseconds; at least half of it is waited. Each further delay is four times as long, up to 2,000 times the first; after nine tries a call is given up.',
    read: integer(1, 3_600_000),
  }),
  webhookMailsPerHour: variable({
    name: 'WEBHOOK_MAILS_PER_HOUR',
    default: '500',
    help: 'Calls of one webhook within an hour that may send mails. Further ones wait; the log of the webhook says why.',
    read: integer(1, 1_000_000),
  }),
  automationLogLevel: variable({
    name: 'AUTOMATION_LOG_LEVEL',
    aliases: ['NC_AUTOMATION_LOG_LEVEL'],
    default: 'OFF',
    help: 'The calls of webhooks that `GET …/hooks/{hookId}/logs` lists: `OFF`, `ERROR` or `ALL`. The web app lists all of them.',
    read: oneOf(AUTOMATION_LOG_LEVELS),
  }),
  historyDays: variable({
    name: 'HISTORY_DAYS',
    default: '365',
    help: 'Days for which each base keeps its change log (undo, record history) and columns replaced by a type change. `0`: forever. The owner of a base can override it.',
    read: integer(0, 36_500),
  }),
  trashDays: variable({
    name: 'TRASH_DAYS',
    default: '30',
    help: 'Days for which deleted records, fields, views, tables, files and bases stay in the trash, at most as long as `HISTORY_DAYS`. `0`: as long as the change log. The owner of a base can override it.',
    read: integer(0, 36_500),
  }),
  auditDays: variable({
    name: 'AUDIT_DAYS',
    default: '365',
    help: 'Days for which the audit log of super admins is kept: sign-ins, passwords, accounts, roles, tokens and settings, and the IP addresses of all entries. `0`: forever.',
    read: integer(0, 36_500),
  }),
  attachmentMaxBytes: variable({
    name: 'ATTACHMENT_MAX_BYTES',
    aliases: ['NC_ATTACHMENT_FIELD_SIZE'],
    default: String(20 * 1024 ** 2), // spec §9
    help: 'Largest file in an attachment field, in bytes.',
    read: integer(1, Number.MAX_SAFE_INTEGER),
  }),
  attachmentMaxCount: variable({
    name: 'ATTACHMENT_MAX_COUNT',
    aliases: ['NC_MAX_ATTACHMENTS_ALLOWED'],
    default: '10', // spec §9
    help: 'Files in one attachment cell, unless its field says otherwise.',
    read: integer(1, 100),
  }),
  attachmentLinkSeconds: variable({
    name: 'ATTACHMENT_LINK_SECONDS',
    aliases: ['NC_ATTACHMENT_EXPIRE_SECONDS'],
    default: '7200',
    help: 'Minimum lifetime of an attachment link. A link works for up to a quarter longer, even for someone who has lost access in the meantime.',
    read: integer(60, 7 * 86_400),
  }),
  formAnswersPerHour: variable({
    name: 'FORM_ANSWERS_PER_HOUR',
    default: '100',
    help: 'Responses that one IP address may send to one public form per hour.',
    read: integer(1, 1_000_000),
  }),
  linkUploadsPerHour: variable({
    name: 'LINK_UPLOADS_PER_HOUR',
    default: '300',
    help: 'Files that one IP address may upload through a shared base per hour.',
    read: integer(1, 1_000_000),
  }),
  s3Bucket: variable({
    name: 'S3_BUCKET',
    aliases: ['NC_S3_BUCKET_NAME'],
    default: '',
    help: 'Bucket of an S3-compatible store for attachments. Empty: the bucket configured in the account area under *Setup*, else the folder `attachments` in `DATA_DIR`, which servers that use the same `DATABASE_URL` must share.',
    read: textOrNull,
  }),
  s3Region: variable({
    name: 'S3_REGION',
    aliases: ['NC_S3_REGION'],
    default: '',
    help: 'Region of the bucket.',
    read: textOrNull,
  }),
  s3Endpoint: variable({
    name: 'S3_ENDPOINT',
    aliases: ['NC_S3_ENDPOINT'],
    default: '',
    help: 'URL of the S3-compatible server, if it is not Amazon S3.',
    read: httpUrl,
  }),
  s3AccessKeyId: variable({
    name: 'S3_ACCESS_KEY_ID',
    aliases: ['NC_S3_ACCESS_KEY'],
    default: '',
    help: 'Access key of the bucket.',
    read: textOrNull,
  }),
  s3SecretAccessKey: variable({
    name: 'S3_SECRET_ACCESS_KEY',
    aliases: ['NC_S3_ACCESS_SECRET'],
    default: '',
    help: 'Secret key of the bucket.',
    read: textOrNull,
  }),
  ...SMTP_VARIABLES,
  backupTarget: variable({
    name: 'BACKUP_TARGET',
    default: '',
    help: 'Where `sheaf backup` and `sheaf restore` keep and find backups: a folder (`file:/mnt/backups`) or a bucket (`s3://bucket/folder`, with `S3_ENDPOINT`, `S3_REGION` and the keys). Empty: they need `--to` or `--from`. Scheduled backups are set up under *Account → Backups*.',
    read: textOrNull,
  }),
  backupPassphrase: variable({
    name: 'BACKUP_PASSPHRASE',
    default: '',
    help: 'Passphrase of encrypted backups, at least 16 characters, for the commands. Without it backups are not encrypted.',
    read: secret,
  }),
  telegramApiUrl: variable({
    name: 'TELEGRAM_API_URL',
    default: 'https://api.telegram.org',
    help: 'Address of the Telegram Bot API, e.g. of a server of your own.',
    read: requiredHttpUrl,
  }),
  twilioApiUrl: variable({
    name: 'TWILIO_API_URL',
    default: 'https://api.twilio.com',
    help: 'Address of the Twilio API, e.g. of another region.',
    read: requiredHttpUrl,
  }),
  mapTilesUrl: variable({
    name: 'MAP_TILES_URL',
    default: '',
    help: 'Tile server for map views, `https://tiles.example.com/{z}/{x}/{y}.png`; browsers load the tiles from there. Empty: built-in country outlines.',
    read: tilesUrl,
  }),
  mapTilesAttribution: variable({
    name: 'MAP_TILES_ATTRIBUTION',
    default: '',
    help: 'Attribution required by the tile server, e.g. `© OpenStreetMap contributors`. Plain text.',
    read: textOrNull,
  }),
  metricsToken: variable({
    name: 'METRICS_TOKEN',
    default: '',
    help: 'Bearer token for `GET /metrics` (Prometheus), at least 16 characters. Empty: nothing is measured, and the path does not exist.',
    read: secret,
  }),
  slowQueryMs: variable({
    name: 'SLOW_QUERY_MS',
    default: '1000',
    help: 'Statements that take at least this many milliseconds are logged as `slow query`, without their values. `0`: none.',
    read: integer(0, 3_600_000),
  }),
  indexSlowMs: variable({
    name: 'INDEX_SLOW_MS',
    default: '10',
    help: 'Reads of a table that repeatedly take at least this many milliseconds get an index. `0`: no automatic indexes, and none for searches.',
    read: integer(0, 3_600_000),
  }),
  drainSeconds: variable({
    name: 'DRAIN_SECONDS',
    default: '0',
    help: 'Seconds for which a server that is asked to stop still serves everything, while `GET /api/v1/ready` already answers 503. With several servers behind a load balancer, set it to a little more than the interval of its checks.',
    read: integer(0, 3_600),
  }),
  stopSeconds: variable({
    name: 'STOP_SECONDS',
    default: '5',
    help: 'Seconds that running requests then have to finish. With `DRAIN_SECONDS` it must stay below the time after which the process is killed (10 seconds in Docker, 90 in systemd).',
    read: integer(0, 3_600),
  }),
} satisfies { [K in keyof Config]: Variable<Config[K]> & { name: string } }

/**
 * Parses the environment.
 *
 * @throws Error with a line for each wrong variable: its name, its value unless secret, and what is accepted
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const problems: string[] = []
  const entries = Object.entries(VARIABLES).map(([key, variable]) => {
    const names = [variable.name, ...(variable.aliases ?? [])]
    const textOf = (name: string): string => env[name]?.trim() ?? ''
    const name = names.find((candidate) => textOf(candidate) !== '')
    const value = name === undefined ? variable.default : textOf(name)
    try {
      return [key, variable.read(value, name ?? variable.name)]
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error))
      return [key, null]
    }
  })
  const config = Object.fromEntries(entries) as Config
  if (problems.length === 0 && config.smtpHost !== null) {
    for (const key of ['smtpFrom', 'publicUrl'] as const) {
      // Links in mails use this address, because a request's Host header can be forged.
      if (config[key] === null) problems.push(`${VARIABLES[key].name} must be set where SMTP_HOST is`)
    }
  }
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return config
}
