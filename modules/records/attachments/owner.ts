import type { Actor, ShareActor } from '../../../src/core/actor.ts'

const LINK = 'link:'

/** Whose a file is that someone uploads: the person's, or of all who came by one public link. */
export function ownerOf(actor: Actor): string | null {
  if (actor.kind === 'share') return visitorOwner(actor)
  return actor.kind === 'user' ? actor.id : null
}

export const visitorOwner = ({ shareId }: ShareActor): string => LINK + shareId

/** True for the owner of files that visitors have uploaded. */
export const isVisitor = (owner: string): boolean => owner.startsWith(LINK)
