import { z } from 'zod'
import type { ConnectionConfig } from '../../../src/db/connection.ts'
import { plainText } from '../../../src/input.ts'
import { member, router } from '../../../src/trpc.ts'
import type { BasesService } from '../service.ts'
import type { SourceRow } from '../store.ts'

const Id = z.string().min(1).max(64)
const Parts = z.record(z.string().max(64), z.unknown())

/** Parsed by `readConnection`. */
export const SentConnection = z.object({ client: z.string().max(64), connection: Parts.default({}) })

const Alias = plainText(255).trim()
const Inflection = z.enum(['none', 'camelize'])

/** Limit of chosen tables. */
const MAX_NAMED = 10_000

/** With `sourceId`, missing parts come from the stored connection. */
const TestInput = SentConnection.extend({ baseId: Id, sourceId: Id.optional() })

/** `tables`: only these; absent: all. */
const CreateSourceInput = SentConnection.extend({
  baseId: Id,
  alias: Alias.nullish(),
  tables: z.array(z.string().max(255)).max(MAX_NAMED).optional(),
  inflectionTable: Inflection.optional(),
  inflectionColumn: Inflection.optional(),
  isSchemaReadonly: z.boolean().optional(),
  isDataReadonly: z.boolean().optional(),
})

const SourceRef = z.object({ baseId: Id, sourceId: Id })

/** A connection without a password keeps the stored one. */
const UpdateSourceInput = SourceRef.extend({
  alias: Alias.nullish(),
  config: SentConnection.optional(),
  isEnabled: z.boolean().optional(),
  isSchemaReadonly: z.boolean().optional(),
  isDataReadonly: z.boolean().optional(),
})

/** A connection without its secrets. */
export interface ShownConnection {
  host: string
  port: number | null
  database: string
  user: string
  schema: string | null
  sslMode: string
  hasPassword: boolean
  /** Certificates and keys that are stored. */
  hasCa: boolean
  hasCert: boolean
  hasKey: boolean
}

/** A source as the web app gets it. */
const describeSource = (row: SourceRow, config: ConnectionConfig | null) => ({
  id: row.id,
  baseId: row.baseId,
  alias: row.alias,
  client: row.client,
  isOwn: row.isOwn,
  isEnabled: row.isEnabled,
  isSchemaReadonly: row.isSchemaReadonly,
  isDataReadonly: row.isDataReadonly,
  order: row.order,
  createdAt: row.createdAt,
  connection: config && shown(config),
})

function shown(config: ConnectionConfig): ShownConnection {
  if ('file' in config) {
    const database = config.file.split(/[\\/]/).at(-1) ?? ''
    return { host: '', port: null, database, user: '', schema: null, ...NO_SSL, hasPassword: false }
  }
  const { host, port, database, user, password, ssl } = config
  return {
    host,
    port,
    database,
    user,
    hasPassword: password !== '',
    schema: ('schema' in config ? config.schema : undefined) ?? null,
    sslMode: ssl?.mode ?? 'disable',
    hasCa: !!ssl?.ca,
    hasCert: !!ssl?.cert,
    hasKey: !!ssl?.key,
  }
}

const NO_SSL = { sslMode: 'disable', hasCa: false, hasCert: false, hasKey: false }

const BaseRef = SourceRef.pick({ baseId: true })

/** `trpc.sources.*`: databases of a base. Their tables are in `trpc.schema`. */
export const sourcesRouter = ({ sources }: BasesService) =>
  router({
    list: member
      .input(BaseRef)
      .query(async ({ ctx, input }) =>
        (await sources.list(ctx.actor, input.baseId)).map((row) =>
          describeSource(row, sources.connectionOf(row)),
        ),
      ),
    test: member
      .input(TestInput)
      .mutation(({ ctx, input: { baseId, sourceId, ...sent } }) =>
        sources.test(ctx.actor, baseId, sent, sourceId),
      ),
    inspect: member
      .input(TestInput)
      .mutation(({ ctx, input: { baseId, sourceId, ...sent } }) =>
        sources.inspect(ctx.actor, baseId, sent, sourceId),
      ),
    create: member
      .input(CreateSourceInput)
      .mutation(({ ctx, input: { baseId, ...source } }) => sources.create(ctx.actor, baseId, source)),
    update: member
      .input(UpdateSourceInput)
      .mutation(async ({ ctx, input: { baseId, sourceId, ...patch } }) => {
        const row = await sources.update(ctx.actor, baseId, sourceId, patch)
        return describeSource(row, sources.connectionOf(row))
      }),
    delete: member
      .input(SourceRef)
      .mutation(({ ctx, input }) => sources.delete(ctx.actor, input.baseId, input.sourceId)),
  })
