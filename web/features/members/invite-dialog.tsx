import { useState } from 'react'
import type { Base, MemberInvitation } from '../../../src/core/model.ts'
import { type BaseRole, holdsBaseRole } from '../../../src/core/roles.ts'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { addressOf, paths } from '../../navigation/paths.ts'
import { trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { DialogButtons } from '../../ui/dialog-buttons.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { toast } from '../../ui/toast.ts'
import { checkEmail } from '../auth/check-credentials.ts'
import { CopyButton } from '../shares/share-link.tsx'
import styles from './invite-dialog.module.css'
import { roleName } from './role-pill.tsx'
import { roleHint, rolesToGive } from './roles-to-give.ts'

/** Limit of one invite call. */
const MAX_AT_ONCE = 200

/** Splits typed or pasted addresses at commas, semicolons and whitespace, without duplicates. */
const readAddresses = (text: string): string[] => [
  ...new Set(text.split(/[\s,;]+/).filter((part) => part !== '')),
]

interface InviteDialogProps {
  base: Pick<Base, 'id' | 'title' | 'role'>
  /** Addresses to begin with. */
  emails?: string
  onClose: () => void
}

/** Invites people to a base. Those without an account get a sign-up link. */
export function InviteDialog({ base, emails = '', onClose }: InviteDialogProps) {
  const utils = trpc.useUtils()
  const sendsMail = trpc.app.info.useQuery().data?.sendsMail ?? false
  const [text, setText] = useState(emails)
  const [role, setRole] = useState<BaseRole>(holdsBaseRole(base.role, 'editor') ? 'editor' : 'viewer')
  const [refused, setRefused] = useState<string | null>(null)
  const [links, setLinks] = useState<MemberInvitation[]>([])
  const invite = trpc.bases.invite.useMutation({ onSuccess: receive })

  function receive(outcomes: MemberInvitation[]) {
    void utils.bases.members.invalidate({ baseId: base.id })
    const problems = outcomes.filter(({ problem }) => problem !== null)
    const invited = outcomes.length - problems.length
    const fresh = outcomes.filter(({ inviteToken }) => inviteToken !== null)
    if (invited > 0) toast.success({ text: m.bases_people_invited({ count: invited }) })
    if (problems.length === 0 && fresh.length === 0) return onClose()
    setLinks((before) => [...before, ...fresh])
    // Keep the rejected addresses in the field, with the reason.
    setText(problems.map(({ email }) => email).join(', '))
    setRefused(problems.length > 0 ? problems.map(({ problem }) => problem).join('. ') : null)
  }

  function submit() {
    if (invite.isPending) return
    const emails = readAddresses(text)
    const wrong = emails.filter((email) => checkEmail(email) !== null)
    if (emails.length === 0) return setRefused(m.bases_enter_least_one_email_address())
    if (wrong.length > 0)
      return setRefused(m.bases_invalid_email_address_emails({ emails: wrong.join(', ') }))
    if (emails.length > MAX_AT_ONCE) {
      return setRefused(m.bases_up_to_addresses_at_once({ count: MAX_AT_ONCE }))
    }
    setRefused(null)
    invite.mutate({ baseId: base.id, emails, role })
  }

  const isDone = links.length > 0 && text === ''
  return (
    <Dialog
      title={m.bases_invite_to_title({ title: base.title })}
      onClose={onClose}
      onSubmit={isDone ? onClose : submit}
      footer={
        isDone ? (
          <Button type="submit" variant="primary">
            {m.common_done()}
          </Button>
        ) : (
          <DialogButtons label={m.bases_invite()} busy={invite.isPending} onClose={onClose} />
        )
      }
    >
      <div className={styles.form}>
        {links.length > 0 && <InviteLinks invitations={links} sendsMail={sendsMail} />}
        {!isDone && (
          <>
            <TextArea
              label={m.bases_email_addresses()}
              data-autofocus
              dir="ltr"
              rows={2}
              placeholder="ada@example.com, grace@example.com"
              value={text}
              onChange={(event) => setText(event.target.value)}
              error={refused ?? (invite.error && messageOf(invite.error))}
              help={sendsMail ? m.bases_invite_hint_mail() : m.bases_invite_hint_links()}
            />
            <RoleChoice own={base.role} role={role} onChange={setRole} />
          </>
        )}
      </div>
    </Dialog>
  )
}

/** Sign-up links of invited people without an account. */
function InviteLinks({ invitations, sendsMail }: { invitations: MemberInvitation[]; sendsMail: boolean }) {
  return (
    <section className={styles.links} aria-label={m.bases_invitation_links()}>
      <p>{sendsMail ? m.bases_invitation_links_mailed_hint() : m.bases_invitation_links_no_mail_hint()}</p>
      {invitations.map(({ email, inviteToken }) => (
        <div key={email} className={styles.link}>
          <span dir="ltr">{email}</span>
          <CopyButton text={addressOf(paths.acceptInvite(inviteToken ?? ''))} />
        </div>
      ))}
    </section>
  )
}

/** Radio buttons of the roles that `own` may assign. */
function RoleChoice(props: { own: BaseRole; role: BaseRole; onChange: (role: BaseRole) => void }) {
  const { own, role, onChange } = props
  return (
    <fieldset className={styles.roles}>
      <legend>{m.bases_role()}</legend>
      {rolesToGive(own).map((each) => (
        <label key={each} className={styles.role}>
          <input type="radio" name="role" checked={each === role} onChange={() => onChange(each)} />
          <span>
            <span style={{ color: `var(--color-role-${each})` }}>{roleName(each)}</span>
            <small>{roleHint(each)}</small>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
