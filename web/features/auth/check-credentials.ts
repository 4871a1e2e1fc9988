import { m } from '../../messages.gen.ts'

/** Minimum password length, as the server requires at sign-up. */
export const MIN_PASSWORD = 8

/** Checks the shape of an e-mail address. @returns the problem, or null */
export function checkEmail(email: string): string | null {
  if (email.trim() === '') return m.auth_enter_your_email_address()
  return /^[^\s@]+@(?:[^\s@.]+\.)+[^\s@.]{2,}$/.test(email.trim())
    ? null
    : m.auth_enter_a_valid_email_address()
}

/** @returns the problem of a new password, or null */
export function checkNewPassword(password: string): string | null {
  if (password === '') return m.auth_choose_a_password()
  return password.length < MIN_PASSWORD ? m.auth_use_at_least_characters({ count: MIN_PASSWORD }) : null
}
