#!/bin/sh
# Builds the driver of exchange-core into the directory that it is told: driver.jar and lib/.
# Needs a JDK of 17 or later, Maven, and Maven Central or a mirror of it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/classes"
out=$(cd "$1" && pwd)
mvn --quiet --batch-mode --file "$here/pom.xml" \
    org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
    -DincludeScope=runtime -DoutputDirectory="$out/lib"
javac --release 17 -cp "$out/lib/*" -d "$out/classes" "$here"/src/*.java
jar --create --file "$out/driver.jar" -C "$out/classes" .
