import { eq } from 'drizzle-orm'
import { AppError } from '../../../src/core/errors.ts'
import type { Field } from '../../../src/core/model.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { Kernel } from '../../../src/kernel.ts'
import type { SchemaStore, TableModel } from '../model/index.ts'
import { type Alteration, readGraph, resolveAll } from './graph.ts'
import { referencesOf } from './registry.ts'

/** What follows for computed fields from a change of others. */
export interface Settled {
  /** Statements that write their `result` and `error`, to join the change's own. */
  statements: MetaStatement[]
  /** The tables whose fields are others now. */
  tableIds: string[]
}

/**
 * Works out anew what computed fields give, in all tables of a base, and says what has to be written
 * for it.
 *
 * @throws BAD_REQUEST for what does not fit in a checked field, such as `Circular reference detected`
 */
export async function settle(
  kernel: Pick<Kernel, 'meta'>,
  store: Pick<SchemaStore, 'fields' | 'tables' | 'clientsOf'>,
  baseId: string,
  altered: Alteration,
): Promise<Settled> {
  const graph = await readGraph(kernel, store, baseId, altered)
  const resolved = resolveAll(graph, new Set(altered.checked))
  const outdated = graph.computed.flatMap((field) => {
    const now = resolved.get(field.id)
    const { result, error } = field
    return now && !Bun.deepEquals({ result, error }, now) ? [{ field, now }] : []
  })
  return {
    statements: outdated.map(({ field, now }) =>
      kernel.meta.db.update(store.fields).set(now).where(eq(store.fields.id, field.id)),
    ),
    tableIds: [...new Set(outdated.map(({ field }) => field.tableId))],
  }
}

/** Models by table id: of a table, and of those that its computed fields read. */
export type ReachableModels = ReadonlyMap<string, TableModel>

type Store = Pick<SchemaStore, 'load' | 'areCurrent' | 'findField'>

/**
 * Gives the models that are needed to work out any field of a table: those of its links, what its
 * lookups show, and so on. What is in the trash is left out. Kept until one of the tables changes.
 */
export function createReachable(store: Store): (tableId: string) => Promise<ReachableModels> {
  const kept = new WeakMap<TableModel, ReachableModels>()

  return async function loadReachable(tableId) {
    const model = await store.load(tableId)
    const known = kept.get(model)
    if (known && (known.size === 1 || (await store.areCurrent([...known.values()])))) return known
    const reachable = await collect(store, model)
    kept.set(model, reachable)
    return reachable
  }
}

async function collect(store: Store, start: TableModel): Promise<ReachableModels> {
  const models = new Map([[start.table.id, start]])
  const visited = new Set<string>()

  async function reach(tableId: string): Promise<TableModel | null> {
    const known = models.get(tableId)
    if (known) return known
    const model = await findModel(store, tableId)
    if (model) models.set(tableId, model)
    return model
  }

  async function findField(fieldId: string): Promise<Field | undefined> {
    for (const model of models.values()) {
      const field = model.field(fieldId)
      if (field) return field
    }
    const stored = await store.findField(fieldId)
    return stored === null ? undefined : (await reach(stored.tableId))?.field(fieldId)
  }

  const queue = [...start.fields]
  for (let field = queue.pop(); field; field = queue.pop()) {
    if (visited.has(field.id)) continue
    visited.add(field.id)
    for (const reference of referencesOf(field)) {
      if ('tableId' in reference) await reach(reference.tableId)
      else {
        const read =
          'fieldId' in reference
            ? await findField(reference.fieldId)
            : (await reach(reference.displayOf))?.displayField
        if (read) queue.push(read)
      }
    }
  }
  return models
}

/** The model of a live table, or null. */
async function findModel({ load }: Pick<Store, 'load'>, tableId: string): Promise<TableModel | null> {
  try {
    return await load(tableId)
  } catch (error) {
    if (error instanceof AppError && error.code === 'TABLE_NOT_FOUND') return null
    throw error
  }
}
