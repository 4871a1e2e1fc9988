import { AlignLeft, DatabaseZap, KeyRound, Spline, Type } from 'lucide-react'
import { geometry } from '../../src/core/fields/geometry.ts'
import { PASSWORD_MASK, password } from '../../src/core/fields/password.ts'
import { specificDbType } from '../../src/core/fields/specific-db-type.ts'
import { longText, singleLineText } from '../../src/core/fields/text.ts'
import { m } from '../messages.gen.ts'
import { defineCell, lazyEditor } from './cell.ts'
import mono from './mono.module.css'
import { RichTextView, TextView } from './text-view.tsx'

const PlainEditor = lazyEditor(() => import('./plain-editor.tsx'), 'PlainEditor')

export const singleLineTextCell = defineCell(singleLineText, {
  Icon: Type,
  align: 'start',
  minWidth: 60,
  View: TextView,
  Editor: (props) => (
    <PlainEditor {...props} type={singleLineText} refusal={m.cells_this_text_is_too_long()} />
  ),
})

/** Multi-line text; a grid shows the lines that fit the row. */
export const longTextCell = defineCell(longText, {
  Icon: AlignLeft,
  align: 'start',
  minWidth: 80,
  View: (props) => (props.options.rich ? <RichTextView {...props} /> : <TextView {...props} />),
  Editor: lazyEditor(() => import('./long-text-editor.tsx'), 'LongTextEditor'),
})

/** A geometry in well-known text. */
export const geometryCell = defineCell(geometry, {
  Icon: Spline,
  align: 'start',
  minWidth: 80,
  View: TextView,
  Editor: (props) => (
    <PlainEditor
      {...props}
      type={geometry}
      placeholder={geometry.example}
      refusal={m.cells_enter_geometry_wkt_such_example({ example: geometry.example })}
    />
  ),
})

/** A column of a database type without a matching field type. */
export const specificDbTypeCell = defineCell(specificDbType, {
  Icon: DatabaseZap,
  align: 'start',
  minWidth: 80,
  View: TextView,
  Editor: (props) => (
    <PlainEditor {...props} type={specificDbType} refusal={m.cells_this_text_is_too_long()} />
  ),
})

/** Dots for a stored password, which is never readable. The editor starts empty; leaving it empty changes nothing. */
export const passwordCell = defineCell(password, {
  Icon: KeyRound,
  align: 'start',
  minWidth: 70,
  View: ({ value }) =>
    value === null || value === '' ? null : (
      <span className={mono.secret} role="img" aria-label={m.cells_password_set()}>
        {PASSWORD_MASK}
      </span>
    ),
  Editor: (props) => (
    <PlainEditor
      {...props}
      type={password}
      initial=""
      inputType="password"
      resting={props.variant === 'record' && props.value !== null ? PASSWORD_MASK : undefined}
      placeholder={props.value === null || props.variant === 'record' ? '' : m.common_new_password()}
      refusal={m.cells_this_text_is_too_long()}
    />
  ),
  copyText: () => '',
})
