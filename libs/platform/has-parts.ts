class Holder {
  constructor(parts: object) {
    Object.assign(this, parts);
  }
}

/** The base of a class that is given its parts as one object. Each is a property, as in a controller with `Using`. */
export const HasParts = Holder as new <P extends object>(parts: P) => Readonly<P>;
