import { m } from '../../messages.gen.ts'

/** Least length of a password, wire reference: sign-up. */
export const MIN_PASSWORD = 8

/** What is wrong with an e-mail address, or null. Only its shape: the mail that arrives is the proof. */
export function checkEmail(email: string): string | null {
  if (email.trim() === '') return m.auth_enter_your_email_address()
  return /^[^\s@]+@(?:[^\s@.]+\.)+[^\s@.]{2,}$/.test(email.trim())
    ? null
    : m.auth_enter_a_valid_email_address()
}

/** What is wrong with a new password, or null. */
export function checkNewPassword(password: string): string | null {
  if (password === '') return m.auth_choose_a_password()
  return password.length < MIN_PASSWORD ? m.auth_use_at_least_characters({ count: MIN_PASSWORD }) : null
}
