import { useState } from 'react'
import type { Base, MemberInvitation } from '../../../src/core/model.ts'
import { type BaseRole, holdsBaseRole } from '../../../src/core/roles.ts'
import { messageOf } from '../../errors.ts'
import { t, tn } from '../../i18n.ts'
import { addressOf, paths } from '../../navigation/paths.ts'
import { trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { toast } from '../../ui/toast.ts'
import { checkEmail } from '../auth/check-credentials.ts'
import { CopyButton } from '../shares/share-link.tsx'
import styles from './members.module.css'
import { RoleChoice } from './role-choice.tsx'

/** As the server takes them in one call. */
const MAX_AT_ONCE = 200

/** Addresses as people write or paste them, each once: between commas, semicolons, blanks or lines. */
export const readAddresses = (text: string): string[] => [
  ...new Set(text.split(/[\s,;]+/).filter((part) => part !== '')),
]

/** Makes people members of a base. Those without an account get a link to sign up with. */
export function InviteDialog({ base, onClose }: { base: Base; onClose: () => void }) {
  const utils = trpc.useUtils()
  const sendsMail = trpc.app.info.useQuery().data?.sendsMail ?? false
  const [text, setText] = useState('')
  const [role, setRole] = useState<BaseRole>(holdsBaseRole(base.role, 'editor') ? 'editor' : 'viewer')
  const [refused, setRefused] = useState<string | null>(null)
  const [links, setLinks] = useState<MemberInvitation[]>([])
  const invite = trpc.bases.invite.useMutation({ onSuccess: receive })

  function receive(outcomes: MemberInvitation[]) {
    void utils.bases.members.invalidate({ baseId: base.id })
    const problems = outcomes.filter(({ problem }) => problem !== null)
    const invited = outcomes.length - problems.length
    const fresh = outcomes.filter(({ inviteToken }) => inviteToken !== null)
    if (invited > 0) toast.success({ text: tn('1 person invited', '{n} people invited', invited) })
    if (problems.length === 0 && fresh.length === 0) return onClose()
    setLinks((before) => [...before, ...fresh])
    // What was taken in is gone from the field; what was refused stays, with the reason.
    setText(problems.map(({ email }) => email).join(', '))
    setRefused(problems.length > 0 ? problems.map(({ problem }) => problem).join('. ') : null)
  }

  function submit() {
    if (invite.isPending) return
    const emails = readAddresses(text)
    const wrong = emails.filter((email) => checkEmail(email) !== null)
    if (emails.length === 0) return setRefused(t('Enter at least one email address'))
    if (wrong.length > 0)
      return setRefused(t('Invalid email address: {emails}', { emails: wrong.join(', ') }))
    if (emails.length > MAX_AT_ONCE) {
      return setRefused(t('Up to {n} addresses at once', { n: MAX_AT_ONCE }))
    }
    setRefused(null)
    invite.mutate({ baseId: base.id, emails, role })
  }

  const isDone = links.length > 0 && text === ''
  return (
    <Dialog
      title={t('Invite to {title}', { title: base.title })}
      onClose={onClose}
      onSubmit={isDone ? onClose : submit}
      footer={
        isDone ? (
          <Button type="submit" variant="primary">
            {t('Done')}
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>{t('Cancel')}</Button>
            <Button type="submit" variant="primary" busy={invite.isPending}>
              {t('Invite')}
            </Button>
          </>
        )
      }
    >
      <div className={styles.form}>
        {links.length > 0 && <InviteLinks invitations={links} sendsMail={sendsMail} />}
        {!isDone && (
          <>
            <TextArea
              label={t('Email addresses')}
              data-autofocus
              dir="ltr"
              rows={2}
              placeholder="ada@example.com, grace@example.com"
              value={text}
              onChange={(event) => setText(event.target.value)}
              error={refused ?? (invite.error && messageOf(invite.error))}
              help={
                sendsMail
                  ? t('People without an account get a sign-up link by email.')
                  : t('For people without an account, you get a sign-up link to pass on.')
              }
            />
            <RoleChoice own={base.role} role={role} onChange={setRole} />
          </>
        )}
      </div>
    </Dialog>
  )
}

/** The links of people who have no account yet, to hand over. */
function InviteLinks({ invitations, sendsMail }: { invitations: MemberInvitation[]; sendsMail: boolean }) {
  return (
    <section className={styles.links} aria-label={t('Invitation links')}>
      <p>
        {sendsMail
          ? t('Invitations sent. You can also share these links yourself:')
          : t('This server can’t send email. Send each person their link:')}
      </p>
      {invitations.map(({ email, inviteToken }) => (
        <div key={email} className={styles.link}>
          <span dir="ltr">{email}</span>
          <CopyButton text={addressOf(paths.acceptInvite(inviteToken ?? ''))} />
        </div>
      ))}
    </section>
  )
}
