import type { LucideIcon } from 'lucide-react'
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
  const text = (value: CellValue, options: O): string | undefined =>
    typeof value === 'number'
      ? numberFormat(options, (locale) => makeFormat(options, locale)).format(value)
      : undefined
  return defineCell<O>(type, {
    Icon,
    align: 'end',
    minWidth: 60,
    extraWidth: 24,
    shownText: text,
    View:
      View ??
      (({ value, options }) =>
        typeof value === 'number' ? (
          <span className={styles.number} dir="ltr">
            {text(value, options)}
          </span>
        ) : null),
    Editor: (props) => (
      <TextInput
        {...props}
        initial={editedNumber(props.value)}
        resting={props.variant === 'record' ? text(props.value, props.options) : undefined}
        inputMode="decimal"
        align="end"
        parse={(text) => readNumberDraft(text, type, props.options)}
      />
    ),
  })
}
