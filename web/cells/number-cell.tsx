import type { LucideIcon } from 'lucide-react'
import type { FieldType } from '../../src/core/fields/field-type.ts'
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
  return defineCell<O>(type, {
    Icon,
    align: 'end',
    minWidth: 60,
    extraWidth: 24,
    View:
      View ??
      (({ value, options }) =>
        typeof value === 'number' ? (
          <span className={styles.number} dir="ltr">
            {numberFormat(options, (locale) => makeFormat(options, locale)).format(value)}
          </span>
        ) : null),
    Editor: (props) => (
      <TextInput
        {...props}
        initial={editedNumber(props.value)}
        inputMode="decimal"
        align="end"
        parse={(text) => readNumberDraft(text, type, props.options)}
      />
    ),
  })
}
