/** The objects that a timeline keeps in the bucket, and the items that name them. Data only. */

/** One link of a chain: one bundle of one repository. Item `SESSION#<id>` / `LINK#<chainId>#<link>#<commit>`. */
export interface ChainLink {
  sessionId: string;
  repositoryPath: string;
  chainId: string;
  link: number;
  commit: string;
  /** Commit of the previous link in the chain; null for the first. */
  previous: string | null;
  bundle: LinkBundle;
  expiresAt: number;
}

export interface StoredBundle {
  /** Object key in the bucket. */
  key: string;
  sizeBytes: number;
  /** SHA-256 of the bundle, lower-case hex. */
  sha256: string;
}

/**
 * The bundle of a link. All links of one capture that came through the function are one object, one after the
 * other; size and SHA-256 are those of this link alone.
 */
export interface LinkBundle extends StoredBundle {
  /** Byte of the object at which the bundle begins. Absent: the bundle is an object of its own. */
  at?: number;
}

/** A base bundle, shared by the sessions of one owner. Item `BASE#<owner>#<name>` / `META`. */
export interface StoredBase extends StoredBundle {
  name: string;
  /** `tenant/<id>` or `session/<id>`. */
  owner: string;
  commit: string;
  shallow: boolean;
  partial: boolean;
  expiresAt: number;
}

/**
 * An object that is in the bucket, or may arrive there, but that no other item names yet. The item is written
 * before the upload, so that no object stays for ever. Item `UPLOAD#<hash of its key>` / `UPLOAD`. For an
 * object that holds the links of several repositories, or the content of a checkpoint, this item decides alone:
 * it outlives every item that needs the object, and the object is deleted when it expires.
 */
export interface StoredUpload {
  key: string;
  /** The item that will name the object, or the session whose object it is. */
  place:
    | { sessionId: string; chainId: string }
    | { base: string; owner: string }
    | { linksOf: string }
    | { contentOf: string };
  expiresAt: number;
}
