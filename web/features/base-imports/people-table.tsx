import { ChevronDown, UserPlus } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { BaseImport, ImportedPerson } from '../../../src/core/base-imports.ts'
import type { Person } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { formatNumber } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { api, trpc } from '../../trpc.ts'
import { attempt } from '../../ui/attempt.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { Button } from '../../ui/button.tsx'
import { lazyDialog } from '../../ui/lazy-dialog.ts'
import { type MenuItem, openMenu } from '../../ui/menu.tsx'
import { openDialog } from '../../ui/open-dialog.tsx'
import { QueryError } from '../../ui/states.tsx'
import { checkEmail } from '../auth/check-credentials.ts'
import styles from './people-table.module.css'

const InviteDialog = lazyDialog(() => import('../members/invite-dialog.tsx'), 'InviteDialog')

const POLL_MS = 5000
/** People that are shown at first. */
const FIRST = 50

const nameOf = ({ email, displayName }: Person): string => displayName || email

/** The people of the source with the members who stand for them here. Empty until the import has found somebody. */
export function PeopleTable({ run }: { run: BaseImport }) {
  const { id: importId, status, run: number } = run
  const query = trpc.baseImports.people.useQuery(
    { importId },
    { staleTime: 0, refetchInterval: status === 'running' ? POLL_MS : false },
  )
  const { refetch } = query
  const [showsAll, setShowsAll] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a run that has ended has changed them, also one that nobody saw running
  useEffect(() => void refetch(), [status, number, refetch])
  if (query.error && !query.data) {
    return <QueryError title={m.base_imports_people_load_failed()} query={query} />
  }
  if (!query.data || query.data.people.length === 0) return null
  const { people, total, members } = query.data
  const shown = showsAll ? people : people.slice(0, FIRST)
  const hasChanges = people.some(({ isBehind }) => isBehind)
  return (
    <section className={styles.people}>
      <h3 id="import-people">{m.base_imports_people({ count: total })}</h3>
      <p className={styles.hint}>
        {status === 'paused' && number === 1
          ? m.base_imports_people_hint_first()
          : m.base_imports_people_hint()}
      </p>
      <div className={styles.scroll}>
        <table aria-labelledby="import-people">
          <thead>
            <tr>
              <th scope="col">{m.base_imports_person_there()}</th>
              <th scope="col">{m.base_imports_cells()}</th>
              <th scope="col">{m.base_imports_comments()}</th>
              <th scope="col">{m.base_imports_member_here()}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((person) => (
              <PersonRow
                key={person.key}
                run={run}
                person={person}
                members={members}
                onChanged={() => void refetch()}
              />
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < people.length && (
        <Button size="small" onClick={() => setShowsAll(true)}>
          {m.base_imports_show_more_people({ count: people.length - shown.length })}
        </Button>
      )}
      {showsAll && people.length < total && (
        <p className={styles.hint}>{m.base_imports_people_left_out({ count: total - people.length })}</p>
      )}
      {hasChanges && (
        <p className={styles.hint} role="status">
          {m.base_imports_people_behind()}
        </p>
      )}
    </section>
  )
}

interface PersonRowProps {
  run: BaseImport
  person: ImportedPerson
  members: Person[]
  onChanged: () => void
}

function PersonRow({ run: { id: importId, baseId }, person, members, onChanged }: PersonRowProps) {
  const { key, sourceId, email, name, cells, records, comments, memberId, isChosen, isBehind } = person
  const base = trpc.bases.get.useQuery({ baseId: baseId ?? '' }, { enabled: baseId !== null }).data
  const title = name || email || sourceId || key
  const member = members.find(({ id }) => id === memberId)
  const text = member ? nameOf(member) : m.base_imports_nobody()
  /** @param choice a member's id; null: nobody; undefined: whoever has the address */
  async function choose(choice: string | null | undefined): Promise<void> {
    const done = await attempt(() =>
      api.baseImports.match.mutate({ importId, key, ...(choice !== undefined && { memberId: choice }) }),
    )
    if (done) onChanged()
  }
  const items: MenuItem[] = [
    {
      kind: 'action',
      label: m.base_imports_match_by_address(),
      checked: !isChosen,
      run: () => void choose(undefined),
    },
    {
      kind: 'action',
      label: m.base_imports_nobody(),
      checked: isChosen && memberId === null,
      run: () => void choose(null),
    },
    { kind: 'separator' },
    ...members.map(
      (one): MenuItem => ({
        kind: 'action',
        label: nameOf(one),
        ...(one.displayName && { hint: one.email }),
        checked: isChosen && one.id === memberId,
        run: () => void choose(one.id),
      }),
    ),
  ]
  const isInvitable = email !== null && checkEmail(email) === null && memberId === null && !isChosen
  return (
    <tr data-behind={isBehind || undefined}>
      <th scope="row">
        <bdi>{title}</bdi>
        <small className={styles.counts}>
          {m.base_imports_person_counts({
            cells: formatNumber(cells),
            comments: formatNumber(comments),
          })}
        </small>
        {email !== null && email !== title && (
          <small>
            <bdi dir="ltr">{email}</bdi>
          </small>
        )}
        {email === null && sourceId !== null && sourceId !== title && (
          <small>
            {/* Several people may have the same name. */}
            <bdi dir="ltr">{sourceId}</bdi>
          </small>
        )}
        {records > 0 && <small>{m.base_imports_created_records({ count: records })}</small>}
      </th>
      <td>{formatNumber(cells)}</td>
      <td>{formatNumber(comments)}</td>
      <td>
        <div className={styles.member}>
          <button
            type="button"
            className={styles.choice}
            data-empty={!member || undefined}
            aria-haspopup="menu"
            aria-label={m.base_imports_member_for({ person: title, member: text })}
            onClick={({ currentTarget }) => openMenu(currentTarget, items, title)}
          >
            {member && <Avatar person={member} size={20} />}
            <bdi>{text}</bdi>
            <ChevronDown size={14} aria-hidden />
          </button>
          {isInvitable && base && roleCan(base.role, 'member.create') && (
            <Button
              size="small"
              icon={UserPlus}
              aria-label={m.base_imports_invite_person({ person: title })}
              onClick={() =>
                openDialog((close) => (
                  <InviteDialog
                    base={base}
                    emails={email}
                    onClose={() => {
                      close()
                      onChanged()
                    }}
                  />
                ))
              }
            >
              {m.bases_invite()}
            </Button>
          )}
        </div>
        <small>
          {isBehind
            ? m.base_imports_comes_with_sync()
            : isChosen
              ? m.base_imports_chosen()
              : memberId !== null && m.base_imports_by_address()}
        </small>
      </td>
    </tr>
  )
}
