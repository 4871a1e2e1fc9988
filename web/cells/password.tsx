import { KeyRound } from 'lucide-react'
import { PASSWORD_MASK, password } from '../../src/core/fields/password.ts'
import { t } from '../i18n.ts'
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
      <span className={styles.secret} role="img" aria-label={t('Password set')}>
        {PASSWORD_MASK}
      </span>
    ),
  Editor: (props) => (
    <TextInput
      {...props}
      initial=""
      type="password"
      resting={props.variant === 'record' && props.value !== null ? PASSWORD_MASK : undefined}
      placeholder={props.value === null || props.variant === 'record' ? '' : t('New password')}
      parse={(text) => draftOf(text, password.parse(text, {}), t('This text is too long'))}
    />
  ),
  copyText: () => '',
})
