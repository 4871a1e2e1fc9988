import { KeyRound } from 'lucide-react'
import { PASSWORD_MASK, password } from '../../src/core/fields/password.ts'
import { m } from '../messages.gen.ts'
import { defineCell } from './cell.ts'
import styles from './mono.module.css'
import { draftOf, TextInput } from './text-input.tsx'

/** Dots where a password is set. Nobody can read one; the editor begins empty, and left so it changes nothing. */
export const passwordCell = defineCell(password, {
  Icon: KeyRound,
  align: 'start',
  minWidth: 70,
  View: ({ value }) =>
    value === null || value === '' ? null : (
      <span className={styles.secret} role="img" aria-label={m.cells_password_set()}>
        {PASSWORD_MASK}
      </span>
    ),
  Editor: (props) => (
    <TextInput
      {...props}
      initial=""
      type="password"
      resting={props.variant === 'record' && props.value !== null ? PASSWORD_MASK : undefined}
      placeholder={props.value === null || props.variant === 'record' ? '' : m.common_new_password()}
      parse={(text) => draftOf(text, password.parse(text, {}), m.cells_this_text_is_too_long())}
    />
  ),
  copyText: () => '',
})
