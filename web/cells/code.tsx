import { Barcode, type LucideIcon, QrCode } from 'lucide-react'
import type { ReactNode } from 'react'
import { type BarcodeFormat, barcode, qrCode } from '../../src/core/fields/codes.ts'
import type { CellValue, FieldOptions, FieldType } from '../../src/core/fields/field-type.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import type { Field } from '../../src/core/model.ts'
import { m } from '../messages.gen.ts'
import { lazyPart } from '../navigation/lazy-screen.ts'
import { lazyDialog } from '../ui/lazy-dialog.ts'
import { openDialog } from '../ui/open-dialog.tsx'
import { type Cell, defineCell, type ViewProps } from './cell.ts'
import styles from './code.module.css'

type CodeKind = 'qr' | BarcodeFormat

// The barcode libraries are larger than all cells together, so they load with the first code.
const QrPicture = lazyPart(() => import('./qr-picture.tsx'), 'QrPicture')
const BarPicture = lazyPart(() => import('./bar-picture.tsx'), 'BarPicture')
const CodeDialog = lazyDialog(() => import('./code-dialog.tsx'), 'CodeDialog')

/** Cell of a code, as high as the row. Enter, a double click, or a click in a record enlarges it. */
const codeCell = <O extends FieldOptions>(
  type: FieldType<O>,
  Icon: LucideIcon,
  kindOf: (options: O) => CodeKind,
): Cell<O> => {
  const open = (value: CellValue, field: Field): boolean => {
    const text = codeText(value, field)
    if (text === '') return false
    const kind = kindOf(type.options.parse(field.options))
    openDialog((close) => (
      <CodeDialog
        text={text}
        caption={kind === 'qr' ? text : null}
        picture={<CodePicture kind={kind} text={text} showsText />}
        title={field.title}
        onClose={close}
      />
    ))
    return true
  }
  return defineCell<O>(type, {
    Icon,
    isShape: true,
    align: 'start',
    minWidth: 50,
    View: (props) => <CodeView {...props} kind={kindOf(props.options)} open={open} />,
    open,
    copyText: (value) => String(value ?? ''),
  })
}

/** The encoded text: the source field's value, formatted by its type. */
function codeText(value: CellValue, { result }: Pick<Field, 'result'>): string {
  if (value === null) return ''
  return result && !result.isList ? fieldType(result.type).format(value, result.options) : String(value)
}

interface CodeViewProps<O> extends ViewProps<O> {
  kind: CodeKind
  open: (value: CellValue, field: Field) => boolean
}

function CodeView<O>({ value, field, variant, kind, open }: CodeViewProps<O>): ReactNode {
  const text = codeText(value, field)
  if (text === '') return null
  const picture = <CodePicture kind={kind} text={text} showsText={variant === 'record'} />
  if (variant === 'grid') return <span className={styles.inGrid}>{picture}</span>
  return (
    <button
      type="button"
      className={styles.inRecord}
      aria-label={m.cells_expand_field({ field: field.title })}
      onClick={() => open(value, field)}
    >
      {picture}
    </button>
  )
}

function CodePicture(props: { kind: CodeKind; text: string; showsText: boolean }): ReactNode {
  const { kind, text, showsText } = props
  return kind === 'qr' ? (
    <QrPicture text={text} />
  ) : (
    <BarPicture text={text} format={kind} showsText={showsText} />
  )
}

export const qrCodeCell = codeCell(qrCode, QrCode, () => 'qr')

export const barcodeCell = codeCell(barcode, Barcode, ({ format }) => format)
