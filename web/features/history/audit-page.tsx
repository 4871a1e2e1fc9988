import { History } from 'lucide-react'
import { useState } from 'react'
import { AUDIT_GROUP_NAMES, type AuditEntry, type AuditGroup } from '../../../src/core/audits.ts'
import type { Person } from '../../../src/core/model.ts'
import { formatAgo, localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths, setQuery } from '../../navigation/paths.ts'
import { useSearch } from '../../navigation/router.tsx'
import { trpc } from '../../trpc.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { Button } from '../../ui/button.tsx'
import { useOnChange } from '../../ui/effects.ts'
import { SelectField, TextField } from '../../ui/field.tsx'
import { EmptyState, QueryError, Skeleton } from '../../ui/states.tsx'
import lists from '../layout/list-screen.module.css'
import { useDebounced } from '../layout/use-debounced.ts'
import { auditText } from './audit-text.ts'
import styles from './history.module.css'
import { momentOf } from './moment-of.ts'

/** Entries per page. */
const PAGE = 50

/** What the list is limited to, as in the address of the page. */
interface AuditFilter {
  kind?: AuditGroup
  /** Text in the address of a person. */
  by?: string
  /** Days, `YYYY-MM-DD`, both inclusive. */
  from?: string
  to?: string
}

const GROUPS: Record<AuditGroup, () => string> = {
  sessions: m.account_audit_group_sessions,
  passwords: m.account_audit_group_passwords,
  accounts: m.account_audit_group_accounts,
  roles: m.account_audit_group_roles,
  tokens: m.account_api_tokens,
  server: m.account_audit_group_server,
  bases: m.account_audit_group_bases,
}

/** The audit log of the server, for super admins. */
export function AuditPage() {
  const { kind, by, from, to } = useSearch()
  const filter: AuditFilter = { kind: AUDIT_GROUP_NAMES.find((group) => group === kind), by, from, to }
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const pages = trpc.activity.log.useInfiniteQuery(
    {
      filter: { group: filter.kind, person: by, from: momentOf(from, 'start'), to: momentOf(to, 'end') },
      limit: PAGE,
    },
    { getNextPageParam: ({ next }) => next ?? undefined, staleTime: 0 },
  )
  const loaded = pages.data?.pages
  const people = new Map(loaded?.flatMap((page) => page.people).map((person) => [person.id, person]))
  const bases = new Map(loaded?.flatMap((page) => page.bases).map(({ id, title }) => [id, title]))
  const items = loaded?.flatMap((page) => page.items)
  return (
    <div className={styles.log}>
      <Filters filter={filter} isFiltered={isFiltered} />
      {pages.error && !items ? (
        <QueryError title={m.account_audit_load_failed()} query={pages} />
      ) : items?.length === 0 ? (
        <EmptyState
          icon={History}
          title={isFiltered ? m.account_audit_no_match() : m.account_audit_empty()}
          text={isFiltered ? m.account_audit_no_match_hint() : m.account_audit_empty_hint()}
        />
      ) : (
        <ul className={lists.list} aria-label={m.account_audit()} aria-busy={pages.isPending}>
          {items?.map((entry) => (
            <Row
              key={entry.id}
              entry={entry}
              person={people.get(entry.actorId ?? '')}
              base={bases.get(entry.baseId ?? '')}
            />
          )) ?? [1, 2, 3, 4, 5].map((n) => <Skeleton key={n} height={52} />)}
        </ul>
      )}
      {pages.hasNextPage && (
        <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {m.account_audit_show_older()}
        </Button>
      )}
    </div>
  )
}

function Filters({ filter, isFiltered }: { filter: AuditFilter; isFiltered: boolean }) {
  const [person, setPerson] = useState(filter.by ?? '')
  const by = useDebounced(person.trim(), 300) || undefined
  const set = (name: keyof AuditFilter, value: string) => setQuery(name, value || null, { replace: true })
  useOnChange([by], () => {
    if (by !== filter.by) set('by', by ?? '')
  })
  return (
    <search className={styles.logFilters} aria-label={m.account_audit_filter()}>
      <SelectField
        label={m.account_audit_kind()}
        value={filter.kind ?? ''}
        onChange={(event) => set('kind', event.target.value)}
      >
        <option value="">{m.account_audit_everything()}</option>
        {AUDIT_GROUP_NAMES.map((group) => (
          <option key={group} value={group}>
            {GROUPS[group]()}
          </option>
        ))}
      </SelectField>
      <TextField
        type="search"
        label={m.account_audit_person()}
        maxLength={254}
        value={person}
        onChange={(event) => setPerson(event.target.value)}
      />
      <TextField
        type="date"
        label={m.account_audit_from()}
        value={filter.from ?? ''}
        onChange={(event) => set('from', event.target.value)}
      />
      <TextField
        type="date"
        label={m.account_audit_to()}
        value={filter.to ?? ''}
        onChange={(event) => set('to', event.target.value)}
      />
      {isFiltered && (
        <Button
          size="small"
          variant="ghost"
          onClick={() => {
            setPerson('')
            goTo(paths.account('audit'), { replace: true })
          }}
        >
          {m.account_audit_clear_filters()}
        </Button>
      )}
    </search>
  )
}

interface RowProps {
  entry: AuditEntry
  person: Person | undefined
  /** Title of the base. */
  base: string | undefined
}

function Row({ entry, person, base }: RowProps) {
  const { at, address, userAgent } = entry
  const isByServer = address === null
  return (
    <li className={lists.row}>
      {person ? <Avatar person={person} size={24} /> : <span className={lists.nobody} />}
      <div className={lists.text}>
        <p className={lists.label}>
          <bdi className={entry.kind === 'user.sign-in-failed' ? styles.failed : undefined}>
            {entryText(entry)}
          </bdi>
        </p>
        <p className={lists.facts}>
          <span dir="auto">
            {person
              ? person.displayName || person.email
              : isByServer
                ? m.account_audit_server()
                : m.account_audit_not_signed_in()}
          </span>
          <time dateTime={at} data-tip={new Date(at).toLocaleString(localeTag())}>
            {formatAgo(at)}
          </time>
          {base !== undefined && <span dir="auto">{base}</span>}
          {address !== null && <span dir="ltr">{address}</span>}
          {userAgent !== null && (
            <span dir="ltr" data-tip={userAgent}>
              <span className="visually-hidden">{m.account_audit_agent()}</span> {userAgent}
            </span>
          )}
        </p>
      </div>
    </li>
  )
}

function entryText({ kind, detail }: AuditEntry): string {
  const { name = '', role = '' } = detail
  switch (kind) {
    case 'user.sign-in':
      return m.account_audit_signed_in()
    case 'user.sign-in-failed':
      return name === '' ? m.account_audit_sign_in_failed() : m.account_audit_sign_in_failed_as({ name })
    case 'user.sign-out':
      return m.account_audit_signed_out()
    case 'user.password-change':
      return m.account_audit_password_changed()
    case 'user.reset-link':
      return m.account_audit_reset_link({ name })
    case 'user.password-reset':
      return m.account_audit_password_reset({ name })
    case 'user.sign-up':
      return m.account_audit_signed_up()
    case 'user.invite':
      return m.account_audit_invited({ name })
    case 'user.resend-invite':
      return m.account_audit_invited_again({ name })
    case 'user.accept-invite':
      return m.account_audit_accepted_invite()
    case 'user.delete':
      return m.account_audit_deleted({ name })
    case 'user.roles':
      return m.account_audit_role({ name, role: orgRoleName(role) })
    case 'user.workspace-role':
      return role === ''
        ? m.account_audit_workspace_role_removed({ name })
        : m.account_audit_workspace_role({ name, role: role.replace('workspace-level-', '') })
    case 'token.create':
      return name === '' ? m.account_audit_unnamed_token_created() : m.account_audit_token_created({ name })
    case 'token.delete':
      return name === '' ? m.account_audit_unnamed_token_deleted() : m.account_audit_token_deleted({ name })
    case 'settings.update':
      return detail.target === 'app'
        ? m.account_audit_settings({ name })
        : detail.target === 'backups'
          ? m.account_audit_backups()
          : m.account_audit_license()
    case 'plugin.update':
      return m.account_audit_plugin_configured({ name })
    case 'plugin.deactivate':
      return m.account_audit_plugin_off({ name })
    case 'base.purge':
      return m.account_audit_base_purged({ name })
    case 'server.restore':
      return m.account_audit_restored_all({
        name,
        time: new Date(detail.target ?? '').toLocaleString(localeTag()),
      })
    default:
      return auditText(kind, detail)
  }
}

const orgRoleName = (role: string): string =>
  role === 'org-level-creator' ? m.account_can_create_bases() : m.account_shared_bases_only()
