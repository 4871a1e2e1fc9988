import { fieldType } from '../../../src/core/fields/index.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { isRollupFunction } from '../../../src/core/fields/rollup.ts'
import type { FieldInput, SchemaStore } from '../model/index.ts'
import { notAvailable } from './rollup.ts'
import { refusal } from './rules.ts'

/**
 * Refuses a rollup's function that does not exist in the words for one that does not suit: these name the
 * type of the target, so it is looked up first.
 *
 * @throws BAD_REQUEST `Rollup function (nope) not available for type (Number)`
 */
export async function refuseUnknownFunction(
  store: Pick<SchemaStore, 'findField'>,
  { type, options }: Pick<FieldInput, 'type' | 'options'>,
): Promise<void> {
  const name = options?.function
  if (fieldType(type).computed !== 'rollup' || name === undefined || isRollupFunction(name)) return
  const relation = await store.findField(String(options?.relationFieldId))
  if (!relation || !linkOf(relation)) throw refusal('Relation column not found')
  const target = await store.findField(String(options?.targetFieldId))
  if (target?.tableId !== linkOf(relation)?.relatedTableId || !target) {
    throw refusal('Rollup column not found in related table')
  }
  throw refusal(notAvailable(String(name), target))
}
