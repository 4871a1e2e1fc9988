import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Secrets } from '../../src/secrets.ts'

const TOKEN = /^(us[a-z0-9]{14})\.([\w-]{43})$/

/** Tokens in mails by which their recipient ends them without signing in. They are good for nothing else. */
export function createUnsubscribeTokens({ jwt }: Pick<Secrets, 'jwt'>) {
  const key = createHmac('sha256', jwt).update('sheaf notifications unsubscribe').digest()
  const sign = (userId: string): string => createHmac('sha256', key).update(userId).digest('base64url')
  return {
    tokenFor: (userId: string): string => `${userId}.${sign(userId)}`,

    /** The person that a token was made for; null for any other text. */
    read(token: string): string | null {
      const [, userId = '', signature = ''] = TOKEN.exec(token) ?? []
      if (userId === '') return null
      return timingSafeEqual(Buffer.from(signature), Buffer.from(sign(userId))) ? userId : null
    },
  }
}
