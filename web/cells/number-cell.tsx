import type { LucideIcon } from 'lucide-react'
import { readLong } from '../../src/core/fields/column-limits.ts'
import type { CellValue, FieldType } from '../../src/core/fields/field-type.ts'
import { type Cell, defineCell } from './cell.ts'
import { editedNumber, numberFormat, readNumberDraft } from './number-text.ts'
import { TextInput } from './text-input.tsx'
import styles from './view.module.css'

/** What number types have in common: the end side, the full value in the editor, the format in the view. */
export function numberCell<O extends object>(
  type: FieldType<O>,
  Icon: LucideIcon,
  makeFormat: (options: O, locale: string) => Intl.NumberFormat,
  View?: Cell<O>['View'],
): Cell<O> {
  const text = (value: CellValue, options: O): string | undefined => {
    if (value === null || typeof value === 'boolean') return undefined
    // Text: a number of a connected database with more digits than a double holds, of which none is lost here, or
    // what SQLite lets stand in a column of numbers.
    if (Number.isNaN(Number(value))) return String(value)
    return numberFormat(options, (locale) => makeFormat(options, locale)).format(
      value as number | `${number}`,
    )
  }
  return defineCell<O>(type, {
    Icon,
    align: 'end',
    minWidth: 60,
    extraWidth: 24,
    shownText: text,
    View:
      View ??
      (({ value, options }) =>
        value === null ? null : (
          <span className={styles.number} dir="ltr">
            {text(value, options)}
          </span>
        )),
    Editor: (props) => (
      <TextInput
        {...props}
        initial={editedNumber(props.value)}
        resting={props.variant === 'record' ? text(props.value, props.options) : undefined}
        inputMode="decimal"
        align="end"
        parse={(text) => readLong(props.field, text) ?? readNumberDraft(text, type, props.options)}
      />
    ),
  })
}
