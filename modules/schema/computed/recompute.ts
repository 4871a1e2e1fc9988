import { eq } from 'drizzle-orm'
import { AppError } from '../../../src/core/errors.ts'
import type { Field } from '../../../src/core/model.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { Kernel } from '../../../src/kernel.ts'
import type { SchemaStore, TableModel } from '../model/index.ts'
import { type Alteration, readGraph, resolveAll } from './graph.ts'
import { referencesOf } from './registry.ts'

/**
 * Resolves the computed fields of a base after a change. Returns the statements that update their `result` and `error`,
 * and the tables they are in.
 *
 * @throws BAD_REQUEST for a problem in a checked field, such as `Circular reference detected`
 */
export async function recomputeResults(
  kernel: Pick<Kernel, 'meta'>,
  store: Pick<SchemaStore, 'fields' | 'tables' | 'clientsOf'>,
  baseId: string,
  altered: Alteration,
): Promise<{ statements: MetaStatement[]; tableIds: string[] }> {
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

/** The models, by table id, of a table and of all tables that its computed fields read. */
export type ReachableModels = ReadonlyMap<string, TableModel>

type Store = Pick<SchemaStore, 'load' | 'areCurrent' | 'findField'>

/**
 * Loads the models that the fields of a table depend on, directly and indirectly, without the trash. The result is
 * cached until one of the tables changes.
 */
export function createReachable(store: Store): (tableId: string) => Promise<ReachableModels> {
  const cached = new WeakMap<TableModel, ReachableModels>()

  return async function loadReachable(tableId) {
    const model = await store.load(tableId)
    const known = cached.get(model)
    if (known && (known.size === 1 || (await store.areCurrent([...known.values()])))) return known
    const reachable = await collect(store, model)
    cached.set(model, reachable)
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
