import { AppError } from '../../../src/core/errors.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { SchemaContext } from '../change/index.ts'
import type { FieldAtItsTurn, FieldDecision } from '../fields/index.ts'
import {
  isAsNamed,
  type LinkTarget,
  markParts,
  partsOfLink,
  partsWhere,
  requireRelatedTable,
  targetOf,
} from '../links/index.ts'
import { type FieldDefinition, restoreKeys } from '../model/index.ts'

/** A field's definition on both sides of a change. */
interface BothSides {
  before: FieldDefinition
  after: FieldDefinition
}

const isLink = ({ type }: FieldDefinition): boolean => fieldType(type).computed === 'link'

/** True for a change that made a link of a field with values. */
export const madeLink = ({ before, after }: BothSides): boolean => !isLink(before) && isLink(after)

/**
 * The field as it was before it became a link, the link's parts in the trash; or the link again.
 *
 * @throws CONFLICT where the values or the links have been changed since
 */
export async function decideLink(
  context: SchemaContext,
  current: FieldDefinition,
  turn: FieldAtItsTurn,
  { before, after }: BothSides,
  direction: 'undo' | 'redo',
): Promise<FieldDecision> {
  const [from, to] = direction === 'undo' ? [after, before] : [before, after]
  const field = { ...turn.field, ...after }
  const target = await targetOf(context, turn.model, after)
  // The change was cut off before anyone could see it: there is nothing to take back.
  if (!target) return { definition: current }
  await requireRelatedTable(context, field)
  if (!(await isUntouched(context, current, turn, from, { before, after }, target))) {
    throw new AppError(
      'CONFLICT',
      `"${current.title}" was edited after it became a link. Create a new field instead to keep the new values.`,
    )
  }
  const parts = await partsOfLink(context, field)
  const isThere = direction === 'undo'
  const moved = partsWhere(parts, ({ deletedAt }) => (deletedAt === null) === isThere)
  return {
    definition: restoreKeys(current, from, to),
    cells: { count: 0, write: async () => {} },
    also: await markParts(context, moved, isThere ? turn.now : null, turn.now),
  }
}

async function isUntouched(
  context: SchemaContext,
  current: FieldDefinition,
  turn: FieldAtItsTurn,
  from: FieldDefinition,
  { before, after }: BothSides,
  target: LinkTarget,
): Promise<boolean> {
  const link = linkOf(after)
  const isSame = isLink(current)
    ? Bun.deepEquals(relationOf(current), relationOf(from))
    : current.type === from.type && current.columnName === from.columnName
  if (!isSame || !link) return false
  const related = await context.store.load(link.relatedTableId)
  return isAsNamed(turn, { own: turn.model, related, before, kind: link.kind }, target)
}

const relationOf = (definition: FieldDefinition) => {
  const link = linkOf(definition)
  return link && [link.keyFieldId, link.junction]
}
