export { createMail, type Mail } from './mail/mail.ts'
export type { MailBlock, MailContent } from './mail/message.ts'
export type { NewMail } from './mail/outbox.ts'
