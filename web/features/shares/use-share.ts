import type { Share, ShareKind, ShareSettings } from '../../../src/core/shares.ts'
import { m } from '../../messages.gen.ts'
import { api, cache, trpc } from '../../trpc.ts'
import { attempt } from '../../ui/attempt.ts'
import { confirm } from '../../ui/confirm.tsx'
import { toast } from '../../ui/toast.ts'

/** Changes of a public link; absent properties stay. */
export interface ShareChange {
  role?: Share['role']
  password?: string | null
  expiresAt?: string | null
  settings?: Partial<ShareSettings>
  id?: string
}

/** State of a public link in its dialog. */
export interface ShareState {
  /** Null: not shared. Undefined: not loaded yet. */
  share: Share | null | undefined
  error: unknown
  refetch: () => void
  /**
   * Changes the link, or creates it.
   * @throws the server's error, for the input to show
   */
  save: (patch: ShareChange) => Promise<void>
  /** Like `save`, but optimistic: a failure is shown as a message. */
  change: (patch: ShareChange) => void
  regenerate: () => void
  close: () => void
}

/** The public link of a view, base or diagram with this title. */
export function useShare(kind: ShareKind, targetId: string, title: string): ShareState {
  const input = { kind, targetId }
  const query = trpc.shares.get.useQuery(input)
  const take = (share: Share | null) => {
    cache.shares.get.setData(input, share)
    // The sidebar marks shared views.
    if (kind === 'view') void cache.schema.table.invalidate()
  }
  const save = async (patch: ShareChange) => take(await api.shares.save.mutate({ ...input, patch }))

  async function regenerate(): Promise<void> {
    const agreed = await confirm({
      title: m.shares_reset_the_link_confirm(),
      text: m.shares_reset_link_consequences(),
      confirmLabel: m.shares_reset(),
    })
    if (agreed) take(await api.shares.regenerate.mutate(input))
  }

  async function close(share: Share): Promise<void> {
    // Undo cannot restore the password, of which only a hash is stored.
    const agreed =
      !share.hasPassword ||
      (await confirm({
        title: m.shares_turn_off_the_link_to_confirm({ title }),
        text: m.shares_turn_off_link_consequences(),
        confirmLabel: m.shares_turn_off_link(),
        danger: true,
      }))
    if (!agreed) return
    await api.shares.close.mutate(input)
    take(null)
    if (share.hasPassword) return
    toast.success({
      text: m.shares_link_turned_off(),
      action: { label: m.common_undo(), run: () => void attempt(() => reopen(share)) },
    })
  }

  const reopen = ({ id, role, expiresAt, settings }: Share) =>
    save({
      id,
      settings,
      role: kind === 'base' ? role : undefined,
      expiresAt: isInFuture(expiresAt) ? expiresAt : undefined,
    })

  /** Optimistic; a failed change is reverted. */
  async function changeAtOnce(patch: ShareChange): Promise<void> {
    const before = cache.shares.get.getData(input)
    const { role = before?.role, settings } = patch
    if (before && role)
      cache.shares.get.setData(input, { ...before, role, settings: { ...before.settings, ...settings } })
    try {
      await save(patch)
    } catch (error) {
      cache.shares.get.setData(input, before)
      throw error
    }
  }

  return {
    share: query.data,
    error: query.error,
    save,
    refetch: () => void query.refetch(),
    change: (patch) => void attempt(() => changeAtOnce(patch)),
    regenerate: () => void attempt(() => regenerate()),
    close() {
      const share = query.data
      if (share) void attempt(() => close(share))
    },
  }
}

const isInFuture = (moment: string | null): boolean => moment !== null && Date.parse(moment) > Date.now()
