import { t } from '../../i18n.ts'

/** Least length of a password, wire reference: sign-up. */
export const MIN_PASSWORD = 8

/** What is wrong with an e-mail address, or null. Only its shape: the mail that arrives is the proof. */
export function checkEmail(email: string): string | null {
  if (email.trim() === '') return t('Enter your email address')
  return /^[^\s@]+@(?:[^\s@.]+\.)+[^\s@.]{2,}$/.test(email.trim()) ? null : t('Enter a valid email address')
}

/** What is wrong with a new password, or null. */
export function checkNewPassword(password: string): string | null {
  if (password === '') return t('Choose a password')
  return password.length < MIN_PASSWORD ? t('Use at least {n} characters', { n: MIN_PASSWORD }) : null
}
