import type { Action, Label } from '../../../../src/core/actions.ts'
import { formatNumber, t, tn } from '../../../i18n.ts'

/** A label of the server in the language of the interface. */
export const labelOf = ({ text, params }: Label): string =>
  t(
    text,
    Object.fromEntries(
      Object.entries(params).map(([name, value]) => [
        name,
        typeof value === 'number' ? formatNumber(value) : value,
      ]),
    ),
  )

/** What an action did, in one line: `Qty of Item 3: 42 → 4242`. */
export function actionLabel({ label, further }: Pick<Action, 'label' | 'further'>): string {
  const text = labelOf(label)
  if (further === 0) return text
  return tn('{label} (and 1 more change)', '{label} (and {n} more changes)', further, { label: text })
}

/** The question before an action is undone: `Undo import of 12,000 records into weather?` */
export function undoQuestion(action: Action, isRedo: boolean): string {
  const label = actionLabel(action)
  // A label that starts with our own noun reads on; one that starts with somebody's text is quoted.
  if (action.label.text.startsWith('Import of')) {
    const what = label.charAt(0).toLocaleLowerCase() + label.slice(1)
    return isRedo ? t('Redo {what}?', { what }) : t('Undo {what}?', { what })
  }
  return isRedo ? t('Redo “{what}”?', { what: label }) : t('Undo “{what}”?', { what: label })
}
