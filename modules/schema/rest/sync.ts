import { Elysia } from 'elysia'
import { z } from 'zod'
import type { Authenticator } from '../../../src/caller.ts'
import type { Actor } from '../../../src/core/actor.ts'
import type { Field } from '../../../src/core/model.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { SchemaService } from '../service.ts'
import type { SourceDifferences, SyncChange } from '../sync/index.ts'
import { presentColumn } from './present.ts'

type RestAuth = Authenticator & Pick<AuthService, 'access'>

/** `keys` of differences from the GET; absent applies all. */
const SyncBody = z.object({ keys: z.array(z.string().max(2000)).max(100_000).nullish() })

/** The routes of synchronization (wire §6), below the path prefix of bases. */
export const syncRest = (prefix: string, schema: SchemaService, kernel: Kernel, auth: RestAuth) => {
  const differences = async (actor: Actor, idOrTitle: string, sourceId?: string) => {
    const base = await schema.resolveBase(actor, idOrTitle)
    return (await schema.sync.differences(actor, base.id, sourceId)).flatMap(presentDifferences)
  }
  const sync = async (actor: Actor, idOrTitle: string, body: unknown, sourceId?: string) => {
    const base = await schema.resolveBase(actor, idOrTitle)
    await auth.access.authorize(actor, 'source.update', base.id)
    return schema.sync.sync(actor, base.id, { sourceId, keys: readBody(SyncBody, body).keys })
  }
  return new Elysia({ prefix })
    .use(restBase(kernel, auth))
    .get('/:baseId/meta-diff', ({ actor, params }) => differences(actor, params.baseId))
    .get('/:baseId/meta-diff/:sourceId', ({ actor, params }) =>
      differences(actor, params.baseId, params.sourceId),
    )
    .post('/:baseId/meta-diff', ({ actor, params, body }) => sync(actor, params.baseId, body))
    .post('/:baseId/meta-diff/:sourceId', ({ actor, params, body }) =>
      sync(actor, params.baseId, body, params.sourceId),
    )
}

/** The suffixes of the types of differences (wire §6), after `TABLE_` or `VIEW_`. */
const TYPES: Record<SyncChange['kind'], string> = {
  'table.add': 'NEW',
  'table.remove': 'REMOVE',
  'column.add': 'COLUMN_ADD',
  'column.change': 'COLUMN_TYPE_CHANGE',
  'column.remove': 'COLUMN_REMOVE',
  'relation.add': 'RELATION_ADD',
  'relation.remove': 'RELATION_REMOVE',
}

const messageOf = ({ kind, column, isView }: SyncChange): string => {
  const thing = isView ? 'view' : 'table'
  switch (kind) {
    case 'table.add':
      return `New ${thing}`
    case 'table.remove':
      return `${isView ? 'View' : 'Table'} removed`
    case 'column.add':
      return `New column(${column})`
    case 'column.change':
      return `Column type changed(${column})`
    case 'column.remove':
      return `Column removed(${column})`
    case 'relation.add':
      return 'New relation'
    case 'relation.remove':
      return 'Relation removed'
  }
}

/** Presents the differences of a source, one entry per table. */
function presentDifferences({ source, changes, known }: SourceDifferences) {
  const byId = new Map(known.map((knownTable) => [knownTable.table.id, knownTable]))
  const keyOf = (tableId: string): string | null =>
    byId.get(tableId)?.fields.find((field) => field.isPrimaryKey)?.id ?? null
  const contextOf = (fields: readonly Field[]) => ({ primaryKeyOf: keyOf, fields, client: source.client })
  // Deselected tables are not listed, because clients that apply all differences would add them.
  const listed = changes.filter(({ isLeftOut }) => !isLeftOut)
  return [...Map.groupBy(listed, (change) => change.table)].map(([name, ofTable]) => {
    const tableId = ofTable[0]?.tableId ?? null
    const knownTable = tableId === null ? undefined : byId.get(tableId)
    const isView = ofTable[0]?.isView ?? false
    return {
      title: knownTable?.table.title ?? name,
      meta: null,
      table_name: name,
      source_id: source.id,
      type: isView ? 'view' : 'table',
      detectedChanges: ofTable.map((change) => {
        const field = knownTable?.fields.find(({ id }) => id === change.fieldId)
        return {
          type: `${isView ? 'VIEW' : 'TABLE'}_${TYPES[change.kind]}`,
          msg: messageOf(change),
          key: change.key,
          ...(tableId !== null && { id: tableId }),
          ...(change.column !== null && { cn: change.column }),
          ...(change.relatedTable !== null && { tn: name, rtn: change.relatedTable }),
          ...(change.relatedColumn !== null && { rcn: change.relatedColumn }),
          ...(knownTable &&
            field && {
              colId: field.id,
              column: presentColumn(knownTable.table, field, contextOf(knownTable.fields)),
            }),
        }
      }),
    }
  })
}
