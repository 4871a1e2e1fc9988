import { z } from 'zod'
import { plainText } from '../../../src/input.ts'

const Id = z.string().min(1).max(64)
const Parts = z.record(z.string().max(64), z.unknown())

/** A connection as a client sends it; `readConnection` reads its parts. */
export const SentConnection = z.object({ client: z.string().max(64), connection: Parts.default({}) })

const Alias = plainText(255).trim()
const Inflection = z.enum(['none', 'camelize'])

/** How many tables one may name. */
const MAX_NAMED = 10_000

/** A base, and for a source that exists already what of its connection is kept. */
export const TestInput = SentConnection.extend({ baseId: Id, sourceId: Id.optional() })

/** A new source, as the web app asks for it. `tables`: only these; absent: all. */
export const CreateSourceInput = SentConnection.extend({
  baseId: Id,
  alias: Alias.nullish(),
  tables: z.array(z.string().max(255)).max(MAX_NAMED).optional(),
  inflectionTable: Inflection.optional(),
  inflectionColumn: Inflection.optional(),
  isSchemaReadonly: z.boolean().optional(),
  isDataReadonly: z.boolean().optional(),
})

/** One source of a base. */
export const SourceRef = z.object({ baseId: Id, sourceId: Id })

/** What of a source changes; a connection that leaves its password out keeps it. */
export const UpdateSourceInput = SourceRef.extend({
  alias: Alias.nullish(),
  config: SentConnection.optional(),
  isEnabled: z.boolean().optional(),
  isSchemaReadonly: z.boolean().optional(),
  isDataReadonly: z.boolean().optional(),
})
