import type { UserActor } from '../../../src/core/actor.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { Kernel } from '../../../src/kernel.ts'
import type { LinkSchema } from '../links/index.ts'
import { isForeign } from '../table/index.ts'
import { createSetWrites } from '../write/index.ts'
import { atTime, isCreatedAfter, leftFieldsAfter, requireCovered } from './restore-table.ts'

/** A copy of a base's home that still has the log of the original. */
export interface CopyToRewind {
  owner: UserActor
  /** The id of the copy, for the progress. */
  baseId: string
  engine: Engine
  /** The definitions of the original, under whose ids the log names tables and fields. */
  schema: LinkSchema
  /** The original's tables, without junction tables. */
  tableIds: readonly string[]
  /** When the original's log begins; null: with the base. */
  historySince: string | null
  /** ISO 8601. */
  at: string
}

/** What has not been rewound. */
export interface BaseRewound {
  /** Titles of tables that were created since. */
  tables: string[]
  /** Fields whose values stay, as `Table.Field`. */
  fields: string[]
}

/**
 * Rewinds all tables of a copy, with their links, to an earlier time. Does not check access.
 *
 * @throws BAD_REQUEST for a time in the future, or before the log begins
 */
export async function rewindCopy(
  { works }: Pick<Kernel, 'works'>,
  { owner, baseId, engine, schema, tableIds, historySince, at }: CopyToRewind,
): Promise<BaseRewound> {
  const moment = await atTime(engine, at)
  await requireCovered(engine, historySince, moment)
  const sets = createSetWrites({
    kernel: { sources: { engine: async () => engine }, works, events: { emit() {} } },
    schema,
    touch() {},
  })
  const rewound: BaseRewound = { tables: [], fields: [] }
  await works.follow(owner, { kind: 'rewind', baseId, canCancel: false }, async () => {
    for (const tableId of tableIds) {
      const model = await schema.load(tableId)
      const { table } = model
      if (isForeign(model)) continue
      if (await isCreatedAfter(engine, table, moment)) {
        rewound.tables.push(table.title)
        continue
      }
      const { left, except, exceptLinks } = await leftFieldsAfter(engine, model, moment)
      rewound.fields.push(...left.map(({ title }) => `${table.title}.${title}`))
      const { after, time } = moment
      await sets.rewind(owner, tableId, { after, at: time, keep: [], except, exceptLinks })
    }
  })
  return rewound
}
