import type { SQL } from 'drizzle-orm'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { stacksOf } from '../../../src/core/views/index.ts'
import { isTextStorage } from '../../../src/dialects/related.ts'
import { filterCondition } from './expression/conditions.ts'
import { asOwner } from './expression/scope.ts'
import { groupTerm } from './groups/term.ts'
import type { PlanContext } from './plan-context.ts'

/**
 * Which records the view of a context has, as its owner means it: those of its filter, and for visitors of a link to
 * the view none of a stack that it hides. Null where it has all.
 */
export function viewCondition(context: PlanContext): SQL | null {
  const { dialect, view } = context
  const own = asOwner(context)
  // A view keeps conditions on fields that have since gone to the trash: they are left out.
  const conditions = [filterCondition(own, view?.filter ?? null), shownStacks(own)].filter(
    (condition) => condition !== null,
  )
  return conditions.length === 0 ? null : dialect.and(conditions)
}

function shownStacks(own: PlanContext): SQL | null {
  const { dialect, model, view, visitor } = own
  if (!view || visitor?.grant.kind !== 'view' || visitor.grant.viewId !== view.id) return null
  const { fieldId = null, hidden = [] } = stacksOf(view) ?? {}
  const field = fieldId === null ? undefined : model.field(fieldId)
  if (!field || hidden.length === 0) return null
  // The stacks of a link are the records that it leads to, and not what these are called.
  const { key, storage } = groupTerm(own, model.field(linkOf(field)?.keyFieldId ?? '') ?? field)
  if (storage === 'boolean') {
    const shown = [true, false].filter((value) => !hidden.includes(String(value)))
    return dialect.or([dialect.constant(false), ...shown.map((value) => dialect.eq(key, value))])
  }
  const isText = isTextStorage(storage)
  const values = hidden.flatMap((said): CellValue[] => {
    if (said === null) return []
    // What no record can hold hides none.
    return isText ? [said] : Number.isSafeInteger(Number(said)) ? [Number(said)] : []
  })
  const others = values.length === 0 ? dialect.constant(true) : dialect.not(dialect.inList(key, values))
  const isEmpty = dialect.isNull(key)
  return hidden.includes(null) ? dialect.and([dialect.not(isEmpty), others]) : dialect.or([isEmpty, others])
}
