import { summarySetOf } from '../../../../src/core/fields/field.ts'
import { summariesFor } from '../../../../src/core/summaries.ts'
import { m } from '../../../messages.gen.ts'
import { type MenuItem, openMenu } from '../../../ui/menu.tsx'
import { fieldOf, type TableContext } from '../context/table-context.ts'

/** Menu for choosing a column's summary in the footer. */
export function openSummaryMenu(
  context: TableContext,
  fieldId: string,
  anchor: Element | { x: number; y: number },
): void {
  const field = fieldOf(context, fieldId)
  if (!field) return
  const { state } = context
  const current = state.view.fields.find((column) => column.fieldId === fieldId)?.summary ?? null
  const choose = (summary: string | null) => state.arrange([{ fieldId, summary }])
  const items: MenuItem[] = summariesFor(summarySetOf(field)).map(({ key, label }) => ({
    kind: 'action',
    label: label(),
    checked: current === key,
    run: () => choose(key),
  }))
  const none: MenuItem = {
    kind: 'action',
    label: m.common_none(),
    checked: current === null,
    run: () => choose(null),
  }
  openMenu(
    anchor,
    [none, { kind: 'separator' }, ...items],
    m.records_summary_of_field({ field: field.title }),
  )
}
