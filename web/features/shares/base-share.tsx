import type { Base } from '../../../src/core/model.ts'
import { formatAgo } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { Switch } from '../../ui/switch.tsx'
import { addressOfShare } from './share-address.ts'
import { SharingAddress } from './share-address-field.tsx'
import styles from './share-dialog.module.css'
import { ShareExpiry } from './share-expiry.tsx'
import { ShareLink } from './share-link.tsx'
import { SharePassword } from './share-password.tsx'
import { useShare } from './use-share.ts'

/** The public link of a base: on or off, and what one may do there. */
export function BaseShare({ base, onClose }: { base: Base; onClose: () => void }) {
  const state = useShare('base', base.id, base.title)
  const { share, change } = state
  if (state.error && share === undefined) {
    return <ErrorState title={m.shares_link_load_failed()} error={state.error} onRetry={state.retry} />
  }
  if (share === undefined) return <Skeleton height={200} />
  const roles = [
    { role: 'viewer', label: m.shares_viewer(), hint: m.shares_view_every_table_base() },
    {
      role: 'editor',
      label: m.shares_editor(),
      hint: m.shares_also_add_edit_delete_records(),
    },
  ] as const
  return (
    <div className={styles.part}>
      <Switch
        label={m.shares_public_link()}
        hint={m.shares_anyone_link_open_whole_base()}
        checked={share !== null}
        onChange={(on) => (on ? change({}) : state.close())}
      />
      {share !== null && (
        <>
          <ShareLink
            address={addressOfShare(share, null)}
            title={base.title}
            onRegenerate={state.regenerate}
          />
          <p className={styles.seen}>
            {m.shares_visitors_see_every_table_all()}{' '}
            {share.lastVisitAt === null
              ? m.shares_not_opened_yet()
              : m.shares_last_opened_ago({ ago: formatAgo(share.lastVisitAt) })}
          </p>
          <fieldset className={styles.choices}>
            <legend className={styles.legend}>{m.shares_visitor_permissions()}</legend>
            {roles.map(({ role, label, hint }) => (
              <label key={role} className={styles.choice}>
                <input
                  type="radio"
                  name={`role-${base.id}`}
                  checked={share.role === role}
                  onChange={() => change({ role })}
                />
                <span>
                  {label}
                  <small className={styles.hint}>{hint}</small>
                </span>
              </label>
            ))}
          </fieldset>
          <SharingAddress address={addressOfShare(share, null)} share={share} onSave={state.save} />
          <SharePassword hasPassword={share.hasPassword} onSave={state.save} />
          <ShareExpiry expiresAt={share.expiresAt} onSave={state.save} />
          <Switch
            label={m.shares_allow_download()}
            hint={m.shares_visitors_download_each_view_csv()}
            checked={share.settings.allowDownload}
            onChange={(allowDownload) => change({ settings: { allowDownload } })}
          />
        </>
      )}
      <p className={styles.seen}>
        {m.shares_share_people_who_account_add()}{' '}
        <a href={hrefOf(paths.members(base.id))} onClick={onClose}>
          {m.shares_members_of_the_base()}
        </a>
      </p>
    </div>
  )
}
